// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/recent_change.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "common/interval.hpp"
#include "trial_runner/measure/report_times.hpp"

namespace steptune {
namespace {

/// Returns the probability that |B(t)| / sqrt(t (1 - t)) exceeds `value` for some t between `from`
/// and `to`, where B is a Brownian bridge. Uses the leading terms; `value` must be above 1.
double exceedance(double value, double from, double to) {
  const double length = std::log(to * (1.0 - from) / (from * (1.0 - to)));
  const double squared = value * value;
  return value * std::exp(-0.5 * squared) / std::sqrt(2.0 * std::numbers::pi) *
         ((1.0 - 1.0 / squared) * length + 4.0 / squared);
}

/// Cumulative samples, and cumulative seconds in excess of those at the mean rate. There is one
/// entry before each interval and one at the end.
struct Sums {
  std::vector<double> samples{0.0};
  std::vector<double> beyond_s{0.0};

  Sums(std::span<const Interval> intervals, double seconds_per_sample) {
    for (const Interval& interval : intervals) {
      samples.push_back(samples.back() + interval.samples);
      beyond_s.push_back(beyond_s.back() + interval.seconds -
                         seconds_per_sample * interval.samples);
    }
  }
  /// Returns by how many seconds the `count` intervals before `end` differ from the mean rate.
  [[nodiscard]] double beyond(std::size_t end, std::size_t count) const {
    return std::abs(beyond_s[end] - beyond_s[end - count]);
  }
};

bool is_largest(const Sums& sums, std::size_t intervals, std::size_t count) {
  const double of_end = sums.beyond(intervals, count);
  for (std::size_t end = count; end + count <= intervals; ++end) {
    if (sums.beyond(end, count) >= of_end) return false;
  }
  return true;
}

}  // namespace

bool may_have_just_changed(std::span<const Interval> intervals, const RateEstimate& rate) {
  const std::size_t size = intervals.size();
  if (!std::isfinite(rate.standard_error_s)) return false;
  const Sums sums(intervals, rate.seconds_per_sample);
  const double all = sums.samples.back();
  const double least_s = k_rounding * rate.seconds_per_sample * all;
  double largest = 0.0, least_share = 0.0;
  std::size_t count = 0;
  for (std::size_t i = k_min_level_intervals + 1; i < size; ++i) {
    const double samples = all - sums.samples[size - i];
    if (samples > 0.5 * all) break;
    if (least_share == 0.0) least_share = samples / all;
    const double beyond_s = sums.beyond(size, i);
    const double error_s = rate.standard_error_s * std::sqrt(samples * (all - samples));
    if (beyond_s <= least_s || beyond_s <= largest * error_s) continue;
    largest = beyond_s / error_s;
    count = i;
  }
  // A false alarm only makes the trial longer, by 0.5 to 1.3 % on average
  // (docs/internals/measuring-notebook.md).
  return largest > 1.0 && exceedance(largest, least_share, 0.5) < k_error_95 &&
         is_largest(sums, size, count);
}

}  // namespace steptune
