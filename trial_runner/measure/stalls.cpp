// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/stalls.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/median.hpp"
#include "trial_runner/measure/batch_means.hpp"

namespace steptune {
namespace {

/// Median absolute deviations that steps with a normal scatter practically never exceed: eight
/// standard deviations.
constexpr double k_deviations = 8.0 * 1.4826;
/// Least stall, as a share of a typical interval. Shorter ones hardly matter.
constexpr double k_least_share = 0.5;
/// Largest share of intervals that stall. More frequent ones belong to the steps.
constexpr double k_largest_share = 0.05;

/// Unmarks runs that are too long, and intervals nearer to such a run than the run's length. When a
/// slow start fades, chance decides which of its last intervals exceed the limit.
void drop_long_runs(std::vector<bool>& marked) {
  std::vector<bool> kept = marked;
  for (std::size_t begin = 0; begin < marked.size();) {
    std::size_t end = begin;
    while (end < marked.size() && marked[end])
      ++end;
    if (end - begin >= k_min_level_intervals) {
      const std::size_t from = begin - std::min(begin, end - begin);
      const std::size_t to = std::min(marked.size(), end + (end - begin));
      std::fill(kept.begin() + static_cast<std::ptrdiff_t>(from),
                kept.begin() + static_cast<std::ptrdiff_t>(to), false);
    }
    begin = std::max(end, begin + 1);
  }
  marked = std::move(kept);
}

}  // namespace

std::vector<Stall> find_stalls(std::span<const Interval> intervals) {
  if (intervals.size() < k_min_intervals) return {};
  std::vector<double> values;
  values.reserve(intervals.size());
  for (const Interval& interval : intervals)
    values.push_back(interval.seconds / interval.samples);
  const double rate = *median(values);
  for (std::size_t i = 0; i < intervals.size(); ++i)
    values[i] = std::abs(intervals[i].seconds - rate * intervals[i].samples);
  const double deviation_s = *median(values);
  for (std::size_t i = 0; i < intervals.size(); ++i)
    values[i] = rate * intervals[i].samples;
  const double typical_s = *median(values);
  const double least_s = std::max(k_deviations * deviation_s, k_least_share * typical_s);

  std::vector<bool> marked(intervals.size());
  for (std::size_t i = 0; i < intervals.size(); ++i)
    marked[i] = intervals[i].seconds - rate * intervals[i].samples > least_s;
  drop_long_runs(marked);

  std::vector<Stall> stalls;
  double samples = 0.0;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    samples += intervals[i].samples;
    if (marked[i])
      stalls.push_back({i, samples, intervals[i].seconds - rate * intervals[i].samples});
  }
  const double most = std::max(2.0, k_largest_share * static_cast<double>(intervals.size()));
  if (static_cast<double>(stalls.size()) > most) stalls.clear();
  return stalls;
}

std::vector<Interval> without_stalls(std::span<const Interval> intervals,
                                     std::span<const Stall> stalls) {
  std::vector<Interval> steps(intervals.begin(), intervals.end());
  for (const Stall& stall : stalls)
    steps[stall.interval].seconds -= stall.seconds;
  return steps;
}

}  // namespace steptune
