// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/level_shift.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trial_runner/measure/autocorrelation.hpp"
#include "trial_runner/measure/quantiles.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_min_shift_intervals = 12;
constexpr std::size_t k_max_shift_batches = 64;
constexpr std::size_t k_min_side = 4;
constexpr double k_least_change = 0.02;
constexpr double k_tail = 1e-4;
constexpr double k_two_leave = 0.5;
constexpr double k_better_than_line = 0.8;

struct Batch {
  std::size_t begin = 0;  ///< its first interval
  double rate = 0.0;
};

std::vector<Batch> batches_of_equal_count(std::span<const Interval> intervals) {
  const std::size_t count = std::min(k_max_shift_batches, intervals.size());
  std::vector<Batch> batches;
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t begin = b * intervals.size() / count;
    const std::size_t end = (b + 1) * intervals.size() / count;
    Interval sum;
    for (std::size_t i = begin; i < end; ++i) {
      sum.samples += intervals[i].samples;
      sum.seconds += intervals[i].seconds;
    }
    batches.push_back({begin, sum.seconds / sum.samples});
  }
  return batches;
}

/// Returns the sum of squares around the least-squares line.
double squares_around_line(std::span<const Batch> batches) {
  const auto n = static_cast<double>(batches.size());
  const double mean_x = 0.5 * (n - 1.0);
  double mean_y = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
  for (const Batch& batch : batches)
    mean_y += batch.rate / n;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const double x = static_cast<double>(i) - mean_x, y = batches[i].rate - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  return yy - xy * xy / xx;
}

/// Batches at which the second level (`first`) and the last level (`last`) begin. `first` is 0 if
/// there are only two levels. Both are 0 without a split.
struct Splits {
  std::size_t first = 0;
  std::size_t last = 0;
};

double mean_of(std::span<const double> sums, std::size_t begin, std::size_t end) {
  return (sums[end] - sums[begin]) / static_cast<double>(end - begin);
}

/// Returns the part of the sum of squares that a level explains.
double explained(std::span<const double> sums, std::size_t begin, std::size_t end) {
  const double sum = sums[end] - sums[begin];
  return sum * sum / static_cast<double>(end - begin);
}

struct BestSplits {
  Splits one;
  Splits two;
  double left_by_one = 0.0;  ///< sum of squares around the levels
  double left_by_two = 0.0;
};

BestSplits best_splits(std::span<const double> sums) {
  const std::size_t count = sums.size() - 1;
  Splits one, two;
  const double none = explained(sums, 0, count);
  double by_one = none, by_two = none, squares = 0.0;
  for (std::size_t i = 0; i < count; ++i)
    squares += (sums[i + 1] - sums[i]) * (sums[i + 1] - sums[i]);
  for (std::size_t last = k_min_side; last + k_min_side <= count; ++last) {
    const double right = explained(sums, last, count);
    const double gain = explained(sums, 0, last) + right;
    if (gain > by_one) {
      by_one = gain;
      one = {0, last};
    }
    for (std::size_t first = k_min_side; first + k_min_side <= last; ++first) {
      const double both = explained(sums, 0, first) + explained(sums, first, last) + right;
      if (both <= by_two) continue;
      by_two = both;
      two = {first, last};
    }
  }
  return {one, two, squares - by_one, squares - by_two};
}

/// Returns the changes at the splits if they are significant.
std::vector<LevelShift> shifts_at(std::span<const Batch> batches, std::span<const double> sums,
                                  const Splits& splits) {
  if (splits.last == 0) return {};
  const std::size_t count = batches.size();
  const auto n = static_cast<double>(count);
  const double first = splits.first > 0 ? mean_of(sums, 0, splits.first) : 0.0;
  const double before = mean_of(sums, splits.first, splits.last);
  const double after = mean_of(sums, splits.last, count);
  const double change = std::abs(after - before);
  if (!(std::min(before, after) > 0.0)) return {};
  if (change < k_least_change * std::min(before, after)) return {};

  std::vector<double> residuals;
  double squares = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double level = i < splits.first ? first : i < splits.last ? before : after;
    residuals.push_back(batches[i].rate - level);
    squares += residuals.back() * residuals.back();
  }
  if (squares > k_better_than_line * squares_around_line(batches)) return {};
  const Autocorrelation dependence = cautious_autocorrelation_of(residuals);
  const auto left = static_cast<double>(splits.last - splits.first);
  const auto right = static_cast<double>(count - splits.last);
  const double variance = squares / std::max(1.0, n - 3.0) * dependence.inflation;
  const double error = std::sqrt(variance * (1.0 / left + 1.0 / right));
  const double freedom = std::max(3.0, n / dependence.inflation - 3.0);
  if (change <= student_quantile(freedom, k_tail) * error) return {};
  std::vector<LevelShift> shifts;
  if (splits.first > 0) shifts.push_back({batches[splits.first].begin, first, before});
  shifts.push_back({batches[splits.last].begin, before, after});
  return shifts;
}

}  // namespace

std::vector<LevelShift> find_level_shifts(std::span<const Interval> intervals) {
  if (intervals.size() < k_min_shift_intervals) return {};
  const std::vector<Batch> batches = batches_of_equal_count(intervals);
  std::vector<double> sums{0.0};
  for (const Batch& batch : batches)
    sums.push_back(sums.back() + batch.rate);
  const BestSplits best = best_splits(sums);
  if (best.left_by_two < k_two_leave * best.left_by_one) {
    // Two splits fit much better than one: a disturbance between two levels.
    if (auto shifts = shifts_at(batches, sums, best.two); !shifts.empty()) return shifts;
  }
  return shifts_at(batches, sums, best.one);
}

}  // namespace steptune
