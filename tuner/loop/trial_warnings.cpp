// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_warnings.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "tuner/loop/guards.hpp"
#include "tuner/loop/launch_variation.hpp"
#include "tuner/loop/objectives.hpp"
#include "tuner/loop/plan_notes.hpp"

namespace steptune {
namespace {

/// Most programs have begun to train by then.
constexpr double k_until_progress_s = 60.0;

}  // namespace

void TrialWarnings::of_ended(const TrialRecord& trial) {
  const bool unsteady = trial.status == TrialStatus::completed && !is_steady(trial);
  if (!unsteady || !all_timed(*study_)) return;
  const std::string& why = trial.measurement->remark;
  if (trial.measurement->whole_run) {
    if (std::exchange(told_of_whole_runs_, true)) return;
    listener_->on_trial_warning(
        trial.number,
        fmt::format(
            "trial {} ended by itself after {:.0f} samples, before a steady state: its interval is "
            "that of a longer run, about which so short a program says no more; fresh launches "
            "show which configuration takes less time for as many samples{}",
            trial.number, trial.measurement->total_samples, why.empty() ? "" : "; " + why));
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
    // No guard asks for it; yet such a run is of no use, and its speed may be another.
    listener_->on_warning(fmt::format(
        "the baseline's {} was NaN or infinite when it ended: the program as it is may learn "
        "nothing; see 'steptune show {}'",
        fmt::join(baseline.measurement->not_finite, ", "), baseline.number));
  }
  for (const auto& metric : metrics_missing_in_baseline(study_->guards, baseline)) {
    listener_->on_warning(fmt::format(
        "the baseline did not report {}: guards that compare with it are not checked", metric));
  }
}

void TrialWarnings::of_no_progress(const RunningTrials& running) {
  // Of a program that is hooked the hook tells what it does not see.
  const bool is_hooked = study_->hooks.pytorch.has_value();
  if (told_of_no_progress_ || is_hooked) return;
  const RunningTrial* silent = running.without_progress(k_until_progress_s);
  // Simulated and replayed trials, which may start for longer, have no log.
  std::error_code missing;
  if (silent == nullptr || !std::filesystem::exists(silent->record().log_path, missing)) return;
  told_of_no_progress_ = true;
  const std::int64_t number = silent->record().number;
  listener_->on_trial_warning(
      number,
      fmt::format("trial {} has run for {}, and nothing that it printed was read as progress: if "
                  "it trains already, \"reports\" in the study file does not fit its output ({}); "
                  "see docs/reporting.md{}",
                  number, format_duration(k_until_progress_s), silent->record().log_path.string(),
                  advice_on_epochs(silent->measurement())));
}

}  // namespace steptune
