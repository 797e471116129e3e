// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/batch_means.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

namespace steptune {
namespace {

constexpr std::size_t k_min_intervals = 8;
constexpr std::size_t k_min_batches = 10;
constexpr std::size_t k_max_batches = 32;  // more add little (Schmeiser 1982)
/// Correlations of independent values scatter by 1 / sqrt(n); only well within that counts as none.
constexpr double k_independent_sigmas = 0.5;
/// Beyond these the correction for correlation says "nobody knows" rather than how much, and an
/// interval would jump from one report to the next.
constexpr double k_max_correlation = 0.9;
constexpr double k_min_freedom = 3.0;
constexpr std::size_t k_drift_batches = 10;

Interval total_of(std::span<const Interval> intervals) {
  Interval total;
  for (const Interval& interval : intervals) {
    total.samples += interval.samples;
    total.seconds += interval.seconds;
  }
  return total;
}

/// At most `count` batches of about equal samples.
std::vector<Interval> batches_of(std::span<const Interval> intervals, std::size_t count) {
  const double total = total_of(intervals).samples;
  std::vector<Interval> batches;
  Interval batch;
  double done = 0.0;
  for (const Interval& interval : intervals) {
    batch.samples += interval.samples;
    batch.seconds += interval.seconds;
    done += interval.samples;
    const double due = total * static_cast<double>(batches.size() + 1) / static_cast<double>(count);
    if (done >= due * (1.0 - 1e-9)) {
      batches.push_back(batch);
      batch = {};
    }
  }
  if (batch.samples > 0.0) batches.push_back(batch);
  return batches;
}

/// Seconds of each batch beyond what its samples should have taken.
std::vector<double> residuals_of(std::span<const Interval> batches, double seconds_per_sample) {
  std::vector<double> residuals;
  residuals.reserve(batches.size());
  for (const Interval& batch : batches) {
    residuals.push_back(batch.seconds - seconds_per_sample * batch.samples);
  }
  return residuals;
}

double sum_of_squares(std::span<const double> values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

double lag_1_correlation(std::span<const double> residuals) {
  const double squares = sum_of_squares(residuals);
  if (squares <= 0.0) return 0.0;
  return std::inner_product(residuals.begin(), residuals.end() - 1, residuals.begin() + 1, 0.0) /
         squares;
}

double student_quantile(double freedom, double tail) {
  const boost::math::students_t distribution(freedom);
  return boost::math::quantile(boost::math::complement(distribution, tail));
}

enum class Dependence { none, positive, negative };

struct Spread {
  double half_width_s = 0.0;  ///< of the 95 % interval of all batches' seconds together
  Dependence dependence = Dependence::none;  ///< of neighbouring batches
};

Spread spread_of(std::span<const Interval> batches, double seconds_per_sample) {
  // One interval may hold most of the samples, and then there are few batches however many reports.
  if (batches.size() < k_min_intervals / 2 + 1) {
    return {std::numeric_limits<double>::infinity(), Dependence::none};
  }
  const std::vector<double> residuals = residuals_of(batches, seconds_per_sample);
  const auto n = static_cast<double>(batches.size());
  // The sample correlation is too small by about (1 + 4 rho) / n (Kendall 1954).
  const double correlation =
      std::min(k_max_correlation, (lag_1_correlation(residuals) + 1.0 / n) / (1.0 - 4.0 / n));
  const double inflation = (1.0 + std::max(0.0, correlation)) / (1.0 - std::max(0.0, correlation));
  const double variance = n / (n - 1.0) * sum_of_squares(residuals);
  const double freedom = std::max(k_min_freedom, n / inflation - 1.0);
  Spread spread;
  spread.half_width_s = student_quantile(freedom, 0.025) * std::sqrt(variance * inflation);
  if (std::abs(correlation) >= k_independent_sigmas / std::sqrt(n)) {
    spread.dependence = correlation > 0.0 ? Dependence::positive : Dependence::negative;
  }
  return spread;
}

/// Half of what the mean of the first half of the reports differs by from that of the others.
double half_difference_of_halves(std::span<const Interval> intervals) {
  const Interval early = total_of(intervals.first(intervals.size() / 2));
  const Interval late = total_of(intervals.subspan(intervals.size() / 2));
  return 0.5 * std::abs(early.seconds / early.samples - late.seconds / late.samples);
}

RateEstimate batch_means_of(std::span<const Interval> intervals) {
  RateEstimate estimate;
  const auto [samples, seconds] = total_of(intervals);
  if (!(samples > 0.0 && seconds > 0.0)) return estimate;
  estimate.seconds_per_sample = seconds / samples;
  if (intervals.size() < k_min_intervals) return estimate;

  double widest_s = 0.0;
  for (std::size_t count = std::min(intervals.size(), k_max_batches);; count /= 2) {
    const std::vector<Interval> batches = batches_of(intervals, count);
    const Spread spread = spread_of(batches, estimate.seconds_per_sample);
    widest_s = std::max(widest_s, spread.half_width_s / samples);
    const bool last = count / 2 < k_min_batches;
    if (spread.dependence != Dependence::none && !last) continue;
    const bool persists = spread.dependence == Dependence::positive;
    estimate.half_width_s = persists ? widest_s : spread.half_width_s / samples;
    estimate.batches = batches.size();
    return estimate;
  }
}

}  // namespace

RateEstimate estimate_rate(std::span<const Interval> intervals) {
  RateEstimate estimate = batch_means_of(intervals);
  if (std::isfinite(estimate.half_width_s)) {
    estimate.half_width_s = std::hypot(estimate.half_width_s, half_difference_of_halves(intervals));
  }
  return estimate;
}

double significant_drift(std::span<const Interval> intervals) {
  const std::vector<Interval> batches = batches_of(intervals, k_drift_batches);
  if (batches.size() < k_min_intervals) return 0.0;
  const auto n = static_cast<double>(batches.size());
  double mean_x = 0.5 * (n - 1.0), mean_y = 0.0;
  std::vector<double> rates;
  for (const Interval& batch : batches) {
    rates.push_back(batch.seconds / batch.samples);
    mean_y += rates.back() / n;
  }
  if (!(mean_y > 0.0)) return 0.0;
  double xx = 0.0, xy = 0.0, yy = 0.0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double x = static_cast<double>(i) - mean_x, y = rates[i] - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  const double slope = xy / xx;
  const double error = std::sqrt(std::max(0.0, yy - slope * xy) / (n - 2.0) / xx);
  const double critical = student_quantile(n - 2.0, 0.0005);
  return std::abs(slope) > critical * error ? slope * (n - 1.0) / mean_y : 0.0;
}

}  // namespace steptune
