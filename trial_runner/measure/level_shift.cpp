// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/level_shift.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "trial_runner/measure/autocorrelation.hpp"
#include "trial_runner/measure/batch_means.hpp"
#include "trial_runner/measure/half_widths.hpp"
#include "trial_runner/measure/line_fit.hpp"
#include "trial_runner/measure/quantiles.hpp"

namespace steptune {
namespace {

/// Most batches. Up to 2 000 pairs of splits are tried, and their number grows with the square.
constexpr std::size_t k_max_shift_batches = 64;
/// Small, because the best of up to 2 000 splits is tested. One-sided.
constexpr double k_tail = 1e-4;
/// Two splits count if they leave less than this share of the squares that one split leaves.
constexpr double k_two_leave = 0.5;
/// Levels count if they leave at most this share of the squares around a straight line.
constexpr double k_better_than_line = 0.8;

/// Returns the first interval of a batch of about equally many intervals.
std::size_t first_interval(std::size_t batch, std::size_t batches, std::size_t intervals) {
  return batch * intervals / batches;
}

std::vector<double> rates_of_batches(std::span<const Interval> intervals) {
  const std::size_t count = std::min(k_max_shift_batches, intervals.size());
  std::vector<double> rates;
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t begin = first_interval(b, count, intervals.size());
    const std::size_t end = first_interval(b + 1, count, intervals.size());
    const Interval batch = sum_of(intervals.subspan(begin, end - begin));
    rates.push_back(batch.seconds / batch.samples);
  }
  return rates;
}

/// Batches at which the second level (`first`) and the last level (`last`) begin. `first` is 0 if
/// there are only two levels. Both are 0 without a split.
struct Splits {
  std::size_t first = 0;
  std::size_t last = 0;
  double squares = 0.0;  ///< sum of squared deviations from the levels
};

double mean_of(std::span<const double> sums, std::size_t begin, std::size_t end) {
  return (sums[end] - sums[begin]) / static_cast<double>(end - begin);
}

/// Returns the part of the sum of squares that a level explains.
double explained(std::span<const double> sums, std::size_t begin, std::size_t end) {
  const double sum = sums[end] - sums[begin];
  return sum * sum / static_cast<double>(end - begin);
}

/// Returns the best levels with one split and with two.
std::pair<Splits, Splits> best_splits(std::span<const double> sums) {
  const std::size_t count = sums.size() - 1;
  Splits one, two;
  const double none = explained(sums, 0, count);
  double by_one = none, by_two = none, squares = 0.0;
  for (std::size_t i = 0; i < count; ++i)
    squares += (sums[i + 1] - sums[i]) * (sums[i + 1] - sums[i]);
  for (std::size_t last = k_min_level_intervals; last + k_min_level_intervals <= count; ++last) {
    const double right = explained(sums, last, count);
    const double gain = explained(sums, 0, last) + right;
    if (gain > by_one) {
      by_one = gain;
      one.last = last;
    }
    for (std::size_t first = k_min_level_intervals; first + k_min_level_intervals <= last;
         ++first) {
      const double both = explained(sums, 0, first) + explained(sums, first, last) + right;
      if (both <= by_two) continue;
      by_two = both;
      two.first = first;
      two.last = last;
    }
  }
  one.squares = squares - by_one;
  two.squares = squares - by_two;
  return {one, two};
}

/// Returns the changes at the splits if they are significant. `intervals`: their number.
std::vector<LevelShift> shifts_at(std::span<const double> rates, std::span<const double> sums,
                                  const Splits& splits, std::size_t intervals) {
  if (splits.last == 0) return {};
  const std::size_t count = rates.size();
  const auto n = static_cast<double>(count);
  const double first = splits.first > 0 ? mean_of(sums, 0, splits.first) : 0.0;
  const double before = mean_of(sums, splits.first, splits.last);
  const double after = mean_of(sums, splits.last, count);
  const double change = std::abs(after - before);
  if (!(std::min(before, after) > 0.0)) return {};
  if (change < k_usual_half_width * std::min(before, after)) return {};

  std::vector<double> residuals;
  double squares = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double level = i < splits.first ? first : i < splits.last ? before : after;
    residuals.push_back(rates[i] - level);
    squares += residuals.back() * residuals.back();
  }
  if (squares > k_better_than_line * line_fit(rates).squares) return {};
  const Autocorrelation dependence = cautious_autocorrelation_of(residuals);
  const auto left = static_cast<double>(splits.last - splits.first);
  const auto right = static_cast<double>(count - splits.last);
  const double variance = squares / std::max(1.0, n - 3.0) * dependence.inflation;
  const double error = std::sqrt(variance * (1.0 / left + 1.0 / right));
  const double freedom = std::max(3.0, n / dependence.inflation - 3.0);
  if (change <= student_quantile(freedom, k_tail) * error) return {};
  std::vector<LevelShift> shifts;
  const auto begin = [&](std::size_t batch) { return first_interval(batch, count, intervals); };
  if (splits.first > 0) shifts.push_back({begin(splits.first), first, before});
  shifts.push_back({begin(splits.last), before, after});
  return shifts;
}

}  // namespace

std::vector<LevelShift> find_level_shifts(std::span<const Interval> intervals) {
  if (intervals.size() < 3 * k_min_level_intervals) return {};
  const std::vector<double> rates = rates_of_batches(intervals);
  std::vector<double> sums{0.0};
  for (const double rate : rates)
    sums.push_back(sums.back() + rate);
  const auto [one, two] = best_splits(sums);
  if (two.squares < k_two_leave * one.squares) {
    // Two splits fit much better than one: a disturbance between two levels.
    if (auto shifts = shifts_at(rates, sums, two, intervals.size()); !shifts.empty()) return shifts;
  }
  return shifts_at(rates, sums, one, intervals.size());
}

}  // namespace steptune
