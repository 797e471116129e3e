// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/time_to_measure.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <boost/math/statistics/univariate_statistics.hpp>

#include "common/numbers.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "tuner/loop/spending.hpp"
#include "tuner/study/counted_steps.hpp"
#include "tuner/verdict/trial_price.hpp"

namespace steptune {
namespace {

/// Margin for a trial that takes longer than this estimate.
constexpr double k_to_spare = 1.15;
/// Quantile of the steps that earlier trials needed. Most trials need no more; the remaining trials
/// get a somewhat wider interval.
constexpr double k_most = 0.6;
/// Quantile of step times. Slower trials may be measured less precisely.
constexpr double k_fast = 0.1;

/// Returns 0 if `values` is empty.
double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0.0;
  const auto rank = std::llround(share * static_cast<double>(values.size() - 1));
  const auto at = values.begin() + rank;
  std::ranges::nth_element(values, at);
  return *at;
}

/// Times and numbers of steps that earlier trials needed. Samples per step and seconds per step are
/// logarithms.
struct EarlierTrials {
  std::vector<double> startup_s;
  std::vector<double> warmup_steps;
  std::vector<double> window_steps;
  std::vector<double> log_samples;
  std::vector<double> log_step_s;
};

void add(EarlierTrials& earlier, const TrialRecord& trial, const MeasureSpec& wanted) {
  const Measurement& measurement = *trial.measurement;
  const bool has_window = measurement.window_steps > 0.0 && measurement.window_s > 0.0 &&
                          measurement.window_samples > 0.0;
  if (!has_window) return;
  const double step_s = measurement.window_s / measurement.window_steps;
  const bool steady = measurement.status == MeasurementStatus::steady;
  earlier.startup_s.push_back(measurement.startup_s);
  earlier.log_samples.push_back(std::log(measurement.window_samples / measurement.window_steps));
  earlier.log_step_s.push_back(std::log(step_s));
  // Without a steady state, the trial would have needed more steps than it had.
  const double times = steady ? 1.0 : k_longer_window;
  earlier.warmup_steps.push_back(times * measurement.warmup_s / step_s);
  const double window_s = window_for_precision_s(wanted, trial);
  if (!steady) {
    earlier.window_steps.push_back(times * measurement.window_steps);
  } else if (window_s > k_evaluation_growth * wanted.min_window_s) {
    // Skip shorter windows: they were precise enough at the first evaluation, so fewer steps may
    // suffice.
    earlier.window_steps.push_back(window_s / step_s);
  }
}

/// Returns the seconds that a step with this many samples takes in fast trials. If kernel launches
/// dominate, the time is constant; otherwise it is proportional to the samples. So the fit is a
/// power of the samples, by ridge regression towards the square root (A. E. Hoerl and R. W.
/// Kennard, Technometrics 12(1), 1970).
double expected_step_s(const EarlierTrials& earlier, double log_samples) {
  const double mean_x = boost::math::statistics::mean(earlier.log_samples);
  const double mean_y = boost::math::statistics::mean(earlier.log_step_s);
  double xx = 1.0;
  double xy = 0.5;
  for (std::size_t i = 0; i < earlier.log_samples.size(); ++i) {
    const double x = earlier.log_samples[i] - mean_x;
    xx += x * x;
    xy += x * (earlier.log_step_s[i] - mean_y);
  }
  const double power = std::clamp(xy / xx, 0.0, 1.0);
  std::vector<double> at_mean;
  for (std::size_t i = 0; i < earlier.log_samples.size(); ++i)
    at_mean.push_back(earlier.log_step_s[i] - power * (earlier.log_samples[i] - mean_x));
  return std::exp(quantile(std::move(at_mean), k_fast) + power * (log_samples - mean_x));
}

}  // namespace

double time_to_measure_s(const StudySpec& study, const Standing& standing,
                         const Configuration& configuration, const TrialTargets& targets) {
  EarlierTrials earlier;
  for (const TrialRecord& trial : standing.trials()) {
    // A trial that was given up for its speed ended before enough was measured.
    const bool seen_out = is_final(trial.status) && trial.status != TrialStatus::stopped_early;
    if (seen_out && trial.measurement) add(earlier, trial, study.measure);
  }
  if (earlier.startup_s.empty()) return k_infinity;
  const MeasureSpec& wanted = targets.measure;
  const auto samples = samples_per_count(study, configuration);
  const double log_samples = samples ? std::log(*samples) : quantile(earlier.log_samples, 0.5);
  const double step_s = expected_step_s(earlier, log_samples);
  const double sample_s = step_s / std::exp(log_samples);
  const double warmup_s = quantile(earlier.warmup_steps, k_most) * step_s;
  const double window_s =
      std::max({quantile(earlier.window_steps, k_most) * step_s, wanted.min_window_s,
                wanted.min_window_steps * step_s, targets.min_window_samples * sample_s});
  return k_to_spare *
         (quantile(earlier.startup_s, 1.0) + std::min(warmup_s + window_s, wanted.max_trial_s));
}

}  // namespace steptune
