// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_warnings.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tuner/loop/guards.hpp"
#include "tuner/study/unit_name.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/objectives.hpp"
#include "tuner/verdict/plan_notes.hpp"

namespace steptune {

void TrialWarnings::of_ended(const TrialRecord& trial) {
  const bool unsteady = trial.status == TrialStatus::completed && !is_steady(trial);
  if (!unsteady || !all_timed(*study_)) return;
  const std::string& why = trial.measurement->remark;
  if (trial.measurement->whole_run) {
    if (std::exchange(warned_of_whole_runs_, true)) return;
    const UnitName unit = unit_name(*study_);
    listener_->on_trial_warning(
        trial.number,
        fmt::format(
            "trial {} ended by itself after {:.0f} {}, before a steady state: its interval is for "
            "a longer run, so it is wide; fresh launches compare whole runs of as many {}{}",
            trial.number, trial.measurement->total_samples, unit.plural, unit.plural,
            why.empty() ? "" : "; " + why));
    return;
  }
  listener_->on_trial_warning(
      trial.number,
      fmt::format(
          "trial {} had no steady state when it ended ({:.0f} measured steps{}): its "
          "interval is wide{}",
          trial.number, trial.measurement->window_steps, why.empty() ? "" : "; " + why,
          why.empty() ? "; a longer \"max_trial\" or a quieter machine would narrow it" : ""));
}

void TrialWarnings::of_drift(const MachineDrift& drift) const {
  if (const auto note = drift_note(drift)) listener_->on_warning(*note);
}

void TrialWarnings::of_refuted(const TrialRecord& trial) const {
  listener_->on_warning(
      fmt::format("a configuration failed when it was confirmed ({}: {}) and is excluded: {}",
                  to_text(trial.status), trial.failure, trial.configuration.text()));
}

void TrialWarnings::of_baseline(const TrialRecord& baseline) const {
  if (baseline.status == TrialStatus::infeasible) {
    listener_->on_warning(
        fmt::format("the baseline itself violates a limit: {}", baseline.failure));
  } else if (baseline.measurement && !baseline.measurement->not_finite.empty()) {
    // No guard checks for NaN here. Yet a training with NaN is useless, and its speed may differ
    // from the speed of a correct training.
    listener_->on_warning(fmt::format(
        "the baseline's {} was NaN or infinite when it ended: even with its usual settings, the "
        "program may learn nothing; see 'steptune show {} {}'",
        fmt::join(baseline.measurement->not_finite, ", "), study_->name, baseline.number));
  }
  for (const auto& metric : metrics_missing_in_baseline(study_->guards, baseline)) {
    listener_->on_warning(fmt::format(
        "the baseline did not report {}: guards that compare with it are not checked", metric));
  }
}

}  // namespace steptune
