// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "common/numbers.hpp"
#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// Mean seconds per sample over a steady part of a trial, and its uncertainty.
struct RateEstimate {
  double seconds_per_sample = k_nan;
  /// Half-width of the 95 % confidence interval; infinite with too few reports.
  double half_width_s = k_infinity;
  /// Standard error from the batch means and their correlation. Unlike `half_width_s`, contains no
  /// additions for repeated evaluations, differing halves or excursions. Infinite with too few
  /// reports.
  double standard_error_s = k_infinity;
};

/// Fewest intervals that show a level of speed. A shorter run of slow intervals is one of stalls.
inline constexpr std::size_t k_min_level_intervals = 4;
/// Fewest intervals with a confidence interval. They can show two levels.
inline constexpr std::size_t k_min_intervals = 2 * k_min_level_intervals;
/// Fewest batches into which a longer series is divided (Schmeiser 1982).
inline constexpr std::size_t k_min_batches = 10;

/// Factor by which confidence intervals are widened. A trial ends at the first evaluation with a
/// narrow confidence interval, so the interval is narrow partly by chance. With this factor, about
/// 95 % of the confidence intervals contain the true value (benchmarks/stream_accuracy).
inline constexpr double k_widened_for_looks = 1.2;

/// Estimates the mean over all samples, with a confidence interval from batch means. The trial may
/// end at the first evaluation with a narrow confidence interval.
///
/// - Steps are autocorrelated, so they are joined into at most 32 batches. Stage by stage, the
///   number of batches is halved until neighbouring batches no longer correlate. If fewer than 20
///   batches are left and still correlate positively, the widest confidence interval of all stages
///   is used.
/// - Each stage's confidence interval is widened for the batches' correlation, as for a first-order
///   autoregressive process. A confidence interval from single steps is computed the same way. It
///   is used if it is wider and the steps correlate so much that they are worth fewer than 40
///   independent steps. If they are worth fewer than 6, the half-width is infinite.
/// - Batches have different numbers of samples, so the variance is that of a ratio.
/// - Half of the difference between the means of the two halves is added in quadrature. The end of
///   a fading slow start may be too small to be cut off, but still matters.
/// - The half-width is at least 1.5 times the largest deviation of the elapsed time from an even
///   rate. A window that is no multiple of a period can cause such an error.
/// - The result is multiplied by `widening`.
///
/// B. Schmeiser, "Batch size effects in the analysis of simulation output", Operations Research
/// 30(3), 1982 (10 to 30 batches); G. S. Fishman and L. S. Yarberry, "An implementation of the
/// batch means method", INFORMS J. on Computing 9(3), 1997 (growth until independent); N. M.
/// Steiger et al., "ASAP3: a batch means procedure for steady-state simulation analysis", ACM
/// TOMACS 15(1), 2005 (correction for what correlation remains); W. G. Cochran, Sampling
/// Techniques, 3rd ed., section 6.4 (ratio).
[[nodiscard]] RateEstimate estimate_rate(std::span<const Interval> intervals,
                                         double widening = k_widened_for_looks);

/// Estimates the mean over all samples as if the intervals were independent (ratio estimate:
/// Cochran, section 6.4). Meant for trials in turns. A neighbour's load makes their intervals
/// correlate, but it also slows the trials that they are compared with. With fewer than four
/// intervals the half-width is infinite.
[[nodiscard]] RateEstimate estimate_rate_in_turns(std::span<const Interval> intervals,
                                                  double widening = k_widened_for_looks);

/// Returns seconds per sample of the first half of the intervals minus seconds per sample of the
/// second half.
[[nodiscard]] double difference_of_halves(std::span<const Interval> intervals);

/// Returns the relative change of the rate from start to end, if the slope of a straight line
/// through ten batches has p < 0.001; otherwise 0. Returns 0 with fewer than eight batches.
[[nodiscard]] double significant_drift(std::span<const Interval> intervals);

}  // namespace steptune
