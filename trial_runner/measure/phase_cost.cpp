// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/phase_cost.hpp"

#include <algorithm>
#include <cmath>

#include "common/interval.hpp"
#include "trial_runner/measure/batch_means.hpp"
#include "trial_runner/measure/quantiles.hpp"

namespace steptune {
namespace {

/// Assumed relative scatter of durations of one kind of event. It has the weight of
/// `k_usual_weight` events; otherwise two equal durations would give an interval of width 0.
constexpr double k_usual_spread = 0.05;
/// Frequent events are assumed to scatter more than evaluations of equal length. With stalls every
/// 32 steps, 95.1 % of the intervals covered the truth, and 93.0 % with a spread of 5 %
/// (docs/internals/measuring-notebook.md).
constexpr double k_frequent_spread = 0.07;
/// Number of events that the assumed scatter counts as. With less, more trials of stalls every 32
/// steps are covered, but trials with epochs take 23 s instead of 16 s (the notebook).
constexpr double k_usual_weight = 2.0;
/// Gaps that differ by less than this share of their mean form a period.
constexpr double k_periodic_spread = 0.03;

/// True if gaps vary significantly less than the exponential gaps of random events. The test must
/// be significant: a few gaps may be even by chance, and trials with such gaps would end first.
/// With this test, 94.0 instead of 91.7 % of the intervals of heavy tails cover the truth
/// (docs/internals/measuring-notebook.md).
bool are_more_even_than_at_random(double gaps, double gap, double gap_variance) {
  return gaps * gap_variance < chi_squared_quantile(gaps - 1.0, 0.5 * k_error_95) * gap * gap;
}

}  // namespace

void PhaseEvents::add(double at_samples, double seconds) {
  if (count_ > 0.0) {
    const double gap = at_samples - last_samples_;
    gap_squares_ += gap * gap;
  } else {
    first_samples_ = at_samples;
  }
  last_samples_ = at_samples;
  count_ += 1.0;
  const double delta_s = seconds - mean_s_;
  mean_s_ += delta_s / count_;
  squares_s_ += delta_s * (seconds - mean_s_);
}

double PhaseEvents::spread_s(double usual_s) const {
  return std::sqrt((k_usual_weight * usual_s * usual_s + squares_s_) /
                   (k_usual_weight + count_ - 1.0));
}

PhaseCost PhaseCost::of(const PhaseEvents& events, double begin_samples, double end_samples,
                        double resolution_samples) {
  PhaseCost cost;
  const double count = events.count_;
  const double watched = end_samples - begin_samples;
  if (!(count > 0.0 && watched > 0.0)) return cost;

  // Trainers count from 0, so the time before the first event is a gap, too, if it agrees with the
  // other gaps.
  double gaps = count - 1.0;
  double span = events.last_samples_ - events.first_samples_;
  double squares = events.gap_squares_;
  const double gap_of_first = events.first_samples_;
  const bool first_agrees =
      gaps == 0.0 ||
      std::abs(gap_of_first - span / gaps) <= resolution_samples + k_periodic_spread * gap_of_first;
  if (first_agrees && begin_samples <= 0.5 * gap_of_first) {
    gaps += 1.0;
    span += gap_of_first;
    squares += gap_of_first * gap_of_first;
  }
  const double gap = gaps > 0.0 ? span / gaps : watched;
  const double gap_variance = gaps > 0.0 ? std::max(0.0, squares / gaps - gap * gap) : 0.0;
  const double gap_spread = std::sqrt(gap_variance);
  const bool overdue = end_samples - events.last_samples_ > 1.5 * gap + resolution_samples;
  cost.periodic = gap > 0.0 && gaps >= 2.0 && !overdue &&
                  gap_spread <= std::max(resolution_samples, k_periodic_spread * gap);
  const bool is_frequent = cost.periodic && gap <= k_frequent_intervals * resolution_samples;
  const double usual_s = (is_frequent ? k_frequent_spread : k_usual_spread) * events.mean_s_;
  cost.phase = {count, events.mean_s_, events.spread_s(usual_s) / std::sqrt(count)};
  // A program that evaluates at step 0 and every 500 steps shows only the first evaluation. The
  // hook also takes a forward without training for an evaluation, until three steps have shown that
  // it is a part of each step.
  const bool came_at_start = events.last_samples_ <= begin_samples + count * resolution_samples;
  if (came_at_start && (gaps == 0.0 || overdue)) return cost;
  const double period_error =
      cost.periodic && gap_spread < 0.5 * resolution_samples ? 0.0 : gap_spread / std::sqrt(gaps);
  if (cost.periodic) {
    cost.phase.period_samples = gap;
    cost.phase.period_error = period_error;
    cost.phase.spacing_samples = gap;
    cost.seconds_per_sample = events.mean_s_ / gap;
    const double duration = events.mean_s_ > 0.0
                                ? student_quantile_95(k_usual_weight + count - 1.0) *
                                      cost.phase.seconds_error / events.mean_s_
                                : 0.0;
    const double period = student_quantile_95(gaps) * period_error / gap;
    cost.half_width_s = cost.seconds_per_sample * std::hypot(duration, period);
    return cost;
  }
  const bool first_alone = count == 1.0 && gaps == 1.0 && gap > 0.0 && !overdue;
  const double spacing = first_alone ? gap : watched / count;
  cost.phase.spacing_samples = spacing;
  cost.seconds_per_sample = events.mean_s_ / spacing;
  const bool shows_scatter = gaps >= static_cast<double>(k_min_intervals);
  if (shows_scatter) {
    cost.phase.period_samples = spacing;
    cost.phase.period_error = period_error;
  }
  double excess = poisson_upper_95(count) - count;
  if (shows_scatter && are_more_even_than_at_random(gaps, gap, gap_variance)) {
    const double renewal = student_quantile_95(gaps - 1.0) * gap_spread / gap * std::sqrt(count);
    excess = std::min(excess, renewal + 0.5);
  }
  if (!(events.mean_s_ > 0.0)) return cost;
  // Assume that durations scatter by their mean, like exponential times. Observed durations are not
  // used alone, because a trial that ends after few events tends to have seen short ones.
  const double spread_s = events.spread_s(events.mean_s_);
  const double most = std::log1p(excess / count);
  const double longest =
      std::log(gamma_mean_upper_95(count * std::pow(events.mean_s_ / spread_s, 2.0)));
  cost.half_width_s = events.total_s() / watched * std::expm1(std::hypot(most, longest));
  return cost;
}

}  // namespace steptune
