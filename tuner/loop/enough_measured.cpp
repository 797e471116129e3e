// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/enough_measured.hpp"

#include <cmath>

#include "tuner/loop/buffer_bound.hpp"
#include "tuner/verdict/objectives.hpp"

namespace steptune {

bool is_tight(const Measurement& measurement, const MeasureSpec& wanted) {
  return !measurement.may_have_just_changed &&
         measurement.relative_half_width() <= wanted.target_half_width &&
         measurement.window_s >= wanted.min_window_s &&
         measurement.window_steps >= wanted.min_window_steps;
}

bool was_observed_for_long(const Measurement& measurement, const TrialTargets& targets) {
  return measurement.window_steps >= targets.baseline_window_steps ||
         measurement.window_s >= targets.baseline_window_s;
}

bool is_measured_enough(const TrialView& trial) {
  const TrialTargets& targets = trial.targets;
  // From the second round on, interleaved runs must end together, so each run uses its whole share
  // of the budget.
  if (targets.interleaved_round > 1 && std::isfinite(targets.share_of_budget_s)) return false;
  MeasureSpec wanted = targets.measure;
  if (trial.takes_turns()) {
    wanted.min_window_s /= k_with_turns;
    wanted.min_window_steps = static_cast<int>(std::ceil(wanted.min_window_steps / k_with_turns));
  }
  const Measurement& current = trial.measurement();
  const bool is_judged = trial.shares_program() || trial.reports.guards().are_full();
  return all_timed(trial.study) && is_judged && is_tight(current, wanted) &&
         was_observed_for_long(current, targets) &&
         current.window_samples >= targets.min_window_samples && !may_be_buffered(trial);
}

bool may_be_buffered(const TrialView& trial) {
  const auto& baseline = trial.targets.baseline_seconds_per_sample;
  return baseline &&
         may_hide_gain(trial.measurement(), *baseline, trial.targets.measure.target_half_width);
}

bool awaits_guard(const TrialView& trial) {
  const TrialPurpose purpose = trial.record.purpose;
  const bool is_judged = (is_searched(purpose) && !trial.shares_program()) ||
                         (purpose == TrialPurpose::confirm_incumbent && !trial.targets.kept_guards);
  return is_judged && trial.reports.guards().awaits_samples(trial.measurement().total_samples);
}

}  // namespace steptune
