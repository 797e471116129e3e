// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/batch_means.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "common/interval.hpp"
#include "common/numbers.hpp"
#include "trial_runner/measure/autocorrelation.hpp"
#include "trial_runner/measure/line_fit.hpp"
#include "trial_runner/measure/quantiles.hpp"
#include "trial_runner/measure/report_times.hpp"

namespace steptune {
namespace {

/// Largest number of batches: 10 to 30 suffice (Schmeiser 1982), and 32 can be halved.
constexpr std::size_t k_max_batches = 32;
/// Correlations of n independent values scatter by 1 / sqrt(n). A correlation below this multiple
/// of 1 / sqrt(n) counts as none.
constexpr double k_independent_sigmas = 0.5;
/// Effective sample size (number of independent steps with the same information) from which on
/// batch means are the better estimate.
constexpr double k_large_effective_size = 40.0;
/// With a smaller effective sample size, the scatter of the steps is practically unknown.
constexpr double k_min_effective_size = 6.0;
/// Factor on the largest excursion, the largest deviation of the elapsed time from an even rate.
/// For independent steps it is on average 0.87 standard deviations of their sum (Brownian bridge).
/// A larger excursion shows a period or a correlation that the interval missed.
constexpr double k_excursion = 1.5;

/// Joins intervals into at most `count` batches with about equal numbers of samples.
std::vector<Interval> batches_of(std::span<const Interval> intervals, std::size_t count) {
  const double total = sum_of(intervals).samples;
  std::vector<Interval> batches;
  Interval batch;
  double done = 0.0;
  for (const Interval& interval : intervals) {
    batch += interval;
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

/// Returns for each batch its seconds minus the seconds that its samples take at the mean rate.
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

/// Uncertainty of the total time.
struct Uncertainty {
  double half_width_s = 0.0;  ///< of the 95 % interval
  double standard_error_s = 0.0;
};

Uncertainty wider(const Uncertainty& one, const Uncertainty& other) {
  return one.half_width_s < other.half_width_s ? other : one;
}

constexpr Uncertainty k_unknown{k_infinity, k_infinity};

struct Spread {
  Uncertainty uncertainty;
  double correlation = 0.0;  ///< of neighbouring batches; 0: they count as independent
};

Uncertainty uncertainty_of(double standard_error_s, double freedom) {
  return {student_quantile_95(freedom) * standard_error_s, standard_error_s};
}

Spread spread_of(std::span<const Interval> batches, double seconds_per_sample) {
  // If one interval has most of the samples, even many reports give few batches.
  if (batches.size() <= k_min_level_intervals) {
    return {k_unknown, 0.0};
  }
  const std::vector<double> residuals = residuals_of(batches, seconds_per_sample);
  const auto n = static_cast<double>(batches.size());
  const auto [correlation, inflation] = autocorrelation_of(residuals);
  const double variance = n / (n - 1.0) * sum_of_squares(residuals);
  // The correlation may be overestimated, so bound the effective sample size from below.
  const double effective_size = std::max(static_cast<double>(k_min_level_intervals), n / inflation);
  const bool is_correlated = std::abs(correlation) >= k_independent_sigmas / std::sqrt(n);
  return {uncertainty_of(std::sqrt(variance * inflation), effective_size - 1.0),
          is_correlated ? correlation : 0.0};
}

/// Returns the uncertainty computed from single intervals and their correlation, because few
/// batches hide a correlation over several steps. Returns 0 if there is no such correlation, or if
/// batch means estimate the uncertainty better.
Uncertainty uncertainty_of_correlated(std::span<const Interval> intervals,
                                      double seconds_per_sample) {
  const std::vector<double> residuals = residuals_of(intervals, seconds_per_sample);
  const auto n = static_cast<double>(intervals.size());
  const auto [correlation, inflation] = cautious_autocorrelation_of(residuals);
  const double effective_size = n / inflation;
  const double squares = sum_of_squares(residuals);
  const double mean_s = sum_of(intervals).seconds / n;
  if (std::sqrt(squares / n) < k_rounding * mean_s) return {};
  if (correlation * std::sqrt(n) <= k_significant_errors ||
      effective_size >= k_large_effective_size) {
    return {};
  }
  if (effective_size < k_min_effective_size) return k_unknown;
  // Bessel's correction, with the effective sample size.
  const double variance = effective_size / (effective_size - 1.0) * squares;
  return uncertainty_of(std::sqrt(variance * inflation), effective_size - 1.0);
}

RateEstimate batch_means_of(std::span<const Interval> intervals) {
  RateEstimate estimate;
  const auto [samples, seconds] = sum_of(intervals);
  if (!(samples > 0.0 && seconds > 0.0)) return estimate;
  estimate.seconds_per_sample = seconds / samples;
  if (intervals.size() < k_min_intervals) return estimate;

  const Uncertainty of_steps = uncertainty_of_correlated(intervals, estimate.seconds_per_sample);
  Uncertainty widest;
  // Halve the number of batches until neighbouring batches are not correlated.
  for (std::size_t count = std::min(intervals.size(), k_max_batches);; count /= 2) {
    const std::vector<Interval> batches = batches_of(intervals, count);
    const Spread spread = spread_of(batches, estimate.seconds_per_sample);
    widest = wider(widest, spread.uncertainty);
    const bool is_last = count / 2 < k_min_batches;
    if (spread.correlation != 0.0 && !is_last) continue;
    const bool still_correlates = spread.correlation > 0.0;
    const Uncertainty of_batches = still_correlates ? widest : spread.uncertainty;
    const Uncertainty uncertainty = wider(of_batches, of_steps);
    estimate.half_width_s = uncertainty.half_width_s / samples;
    estimate.standard_error_s = uncertainty.standard_error_s / samples;
    return estimate;
  }
}

/// Returns the largest deviation of the elapsed time from an even rate, divided by the number of
/// all samples.
double largest_excursion_s(std::span<const Interval> intervals, double seconds_per_sample) {
  double sum_s = 0.0, largest_s = 0.0, samples = 0.0;
  for (const Interval& interval : intervals) {
    sum_s += interval.seconds - seconds_per_sample * interval.samples;
    samples += interval.samples;
    largest_s = std::max(largest_s, std::abs(sum_s));
  }
  return largest_s / samples;
}

}  // namespace

double difference_of_halves(std::span<const Interval> intervals) {
  if (intervals.size() < 2) return 0.0;
  const Interval early = sum_of(intervals.first(intervals.size() / 2));
  const Interval late = sum_of(intervals.subspan(intervals.size() / 2));
  return early.seconds / early.samples - late.seconds / late.samples;
}

RateEstimate estimate_rate(std::span<const Interval> intervals, double widening) {
  RateEstimate estimate = batch_means_of(intervals);
  if (std::isfinite(estimate.half_width_s)) {
    estimate.half_width_s =
        widening *
        std::max(std::hypot(estimate.half_width_s, 0.5 * std::abs(difference_of_halves(intervals))),
                 k_excursion * largest_excursion_s(intervals, estimate.seconds_per_sample));
  }
  return estimate;
}

RateEstimate estimate_rate_in_turns(std::span<const Interval> intervals, double widening) {
  RateEstimate estimate;
  const auto [samples, seconds] = sum_of(intervals);
  if (!(samples > 0.0 && seconds > 0.0)) return estimate;
  estimate.seconds_per_sample = seconds / samples;
  // Fewer intervals suffice here, because other runs of the configuration also show how much it
  // scatters.
  if (intervals.size() < k_min_level_intervals) return estimate;
  const auto n = static_cast<double>(intervals.size());
  const double squares = sum_of_squares(residuals_of(intervals, estimate.seconds_per_sample));
  estimate.standard_error_s = std::sqrt(n / (n - 1.0) * squares) / samples;
  estimate.half_width_s = widening * student_quantile_95(n - 1.0) * estimate.standard_error_s;
  return estimate;
}

double significant_drift(std::span<const Interval> intervals) {
  const std::vector<Interval> batches = batches_of(intervals, k_min_batches);
  if (batches.size() < k_min_intervals) return 0.0;
  std::vector<double> rates;
  for (const Interval& batch : batches)
    rates.push_back(batch.seconds / batch.samples);
  const LineFit line = line_fit(rates);
  if (!(line.mean > 0.0)) return 0.0;
  const auto n = static_cast<double>(rates.size());
  const double critical = student_quantile(n - 2.0, 0.0005);
  return std::abs(line.slope) > critical * line.slope_error ? line.slope * (n - 1.0) / line.mean
                                                            : 0.0;
}

}  // namespace steptune
