// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/trial_price.hpp"

#include <algorithm>

namespace steptune {

double window_for_precision_s(const MeasureSpec& wanted, const TrialRecord& trial) {
  const Measurement& measured = *trial.measurement;
  if (trial.purpose != TrialPurpose::baseline) return measured.window_s;
  const double share = measured.relative_half_width() / wanted.target_half_width;
  const double steps_s =
      wanted.min_window_steps * measured.window_s / std::max(1.0, measured.window_steps);
  const double least_s = std::max(wanted.min_window_s, steps_s);
  return std::min(measured.window_s, std::max(least_s, share * share * measured.window_s));
}

TrialPrice price_of_repeat(const MeasureSpec& wanted, const TrialRecord& trial) {
  const TrialPrice all{latest_attempt_s(trial), latest_attempt_usd(trial)};
  const bool was_priced = trial.measurement && all.seconds > 0.0;
  // A program that ends by itself cannot be cut short.
  if (!was_priced || trial.measurement->whole_run) return all;
  const double longer_s = trial.measurement->window_s - window_for_precision_s(wanted, trial);
  const double share = std::max(0.0, 1.0 - longer_s / all.seconds);
  return {share * all.seconds, share * all.usd};
}

}  // namespace steptune
