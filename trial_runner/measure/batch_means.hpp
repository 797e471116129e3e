// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <span>

#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// Mean seconds per sample of a steady stretch, and how sure it is.
struct RateEstimate {
  double seconds_per_sample = std::numeric_limits<double>::quiet_NaN();
  /// Half-width of the 95 % interval; infinite where there are too few intervals.
  double half_width_s = std::numeric_limits<double>::infinity();
  /// Of the batch means, with the correlation that they show, and nothing added for looks, halves
  /// or excursions; infinite likewise.
  double standard_error_s = std::numeric_limits<double>::infinity();
  std::size_t batches = 0;
};

/// A trial ends at the first look at which its interval is tight: at one that is too tight by
/// chance. Wider by this, about as many hold the truth as should (benchmarks/stream_accuracy).
inline constexpr double k_widened_for_looks = 1.2;

/// The mean over all samples with the interval of batch means, made for trials that end at the
/// first look at which it is tight. Steps are autocorrelated, so they are joined into 32 batches at
/// most, and these in pairs until neighbours no longer correlate. Where they still do when ten are
/// left, the widest interval met counts. Each is widened for the correlation that it shows, as for
/// a first-order autoregressive process, and so is that of single intervals as long as they are
/// worth fewer than 40 independent ones. Batches hold different numbers of samples, so the variance
/// is that of a ratio. Half of what the two halves of the stretch differ by is added in quadrature:
/// at its end a slow start is too small to be cut off, not to count. It is never less than 1.5
/// times the largest excursion of the time taken from that of an even rate, which is what the
/// length of a window out of a period can do; and wider than all that by `widening`.
///
/// B. Schmeiser, "Batch size effects in the analysis of simulation output", Operations Research
/// 30(3), 1982 (10 to 30 batches); G. S. Fishman and L. S. Yarberry, "An implementation of the
/// batch means method", INFORMS J. on Computing 9(3), 1997 (growth until independent); N. M.
/// Steiger et al., "ASAP3: a batch means procedure for steady-state simulation analysis", ACM
/// TOMACS 15(1), 2005 (correction for what correlation remains); W. G. Cochran, Sampling
/// Techniques, 3rd ed., section 6.4 (ratio).
[[nodiscard]] RateEstimate estimate_rate(std::span<const Interval> intervals,
                                         double widening = k_widened_for_looks);

/// Seconds per sample of the first half of the intervals less those of the others.
[[nodiscard]] double difference_of_halves(std::span<const Interval> intervals);

/// By how much the rate changes from the start to the end of the stretch, relative to its mean, if
/// a straight line through ten batches says so with p < 0.001; else 0.
[[nodiscard]] double significant_drift(std::span<const Interval> intervals);

}  // namespace steptune
