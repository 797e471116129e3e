// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/measure/measurement.hpp"

namespace steptune {

/// Events that come at least once in this many intervals between reports count as a part of the
/// steps, such as waits for data. The number is twice the usual number of steps of a trial, so most
/// trials show such events.
inline constexpr double k_frequent_intervals = 64.0;

/// Durations and positions of one kind of event, in constant memory.
class PhaseEvents {
 public:
  /// Adds an event that ended when the counter was `at_samples`. Values must not decrease.
  void add(double at_samples, double seconds);

  [[nodiscard]] double count() const { return count_; }
  [[nodiscard]] double total_s() const { return count_ * mean_s_; }

 private:
  friend struct PhaseCost;
  /// Estimates the standard deviation of the durations. With few events it is close to `usual_s`.
  [[nodiscard]] double spread_s(double usual_s) const;

  double count_ = 0.0;
  double mean_s_ = 0.0;
  double squares_s_ = 0.0;  ///< sum of squared deviations from the mean (Welford 1962)
  double first_samples_ = 0.0;
  double last_samples_ = 0.0;
  double gap_squares_ = 0.0;  ///< sum of squared gaps between events
};

/// Time that events add to each sample of a long run.
///
/// Periodic events (evaluation every 500 steps) cost their mean duration divided by the period,
/// even if the trial did not cover whole periods. The period is known as soon as two gaps are
/// equally long. The first gap may start where the counter is 0.
///
/// If events come only in the first intervals between reports, one in each, they show nothing about
/// later events. Then their spacing is NaN, and they cost nothing per sample: the planned run pays
/// for them once.
///
/// Other events are random. Their cost is their total time divided by the trial's samples. The time
/// of a single event is divided by the samples before it, unless the next event is overdue. The
/// number of events has the confidence interval of a Poisson count, which is wide for one or two
/// (F. Garwood, Biometrika 28, 1936). This interval is narrower if gaps vary significantly less
/// than random ones (chi-squared, 2.5 %; renewal process: Cox 1962). The mean duration has the
/// confidence interval of the mean of gamma variables. With few events, durations are assumed to
/// scatter like exponential ones. The logarithms of the upper ends for number and duration are
/// added in quadrature. Compared with the F distribution, which is exact for exponential durations,
/// the result is 5 % narrower for ten events, 11 % for three, 27 % for one.
struct PhaseCost {
  double seconds_per_sample = 0.0;
  double half_width_s = 0.0;  ///< of the 95 % confidence interval
  bool periodic = false;
  PhaseEstimate phase;

  /// Computes the cost. The trial was watched from `begin_samples` to `end_samples`. Positions of
  /// events are accurate to `resolution_samples`.
  [[nodiscard]] static PhaseCost of(const PhaseEvents& events, double begin_samples,
                                    double end_samples, double resolution_samples);
};

}  // namespace steptune
