// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "common/numbers.hpp"
#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/batch_effect.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Goals and limits of a trial's measurement.
struct TrialTargets {
  MeasureSpec measure;  ///< targets of the study, adapted to the trial's purpose
  /// Least number of samples in the window of a confirming run, as far as `max_trial_s` allows:
  /// three periods of the longest known phase. 0 for other trials.
  double min_window_samples = 0.0;
  /// The window must have this many steps or be this many seconds long. 0 for all trials but the
  /// baseline (`measure_longer`).
  double baseline_window_steps = 0.0;
  double baseline_window_s = 0.0;
  /// The trial's share of a time budget, in seconds after start-up. Once the share is used up, a
  /// steady trial ends, however wide its interval is. At `budget_end_s`, any trial ends.
  double share_of_budget_s = k_infinity;
  /// Longest time from the start to the first step (`longest_start_s`). A fresh run in turns that
  /// takes longer runs again alone.
  double longest_start_s = k_infinity;
  /// Duration of the study's longest trial; 0 before any was measured.
  double longest_trial_s = 0.0;
  /// End of the trial's part of a time budget, on the loop's clock. The trial then ends with the
  /// measurement so far, but not before it has run for `least_s`.
  double budget_end_s = k_infinity;
  double least_s = 0.0;
  /// Seconds after which a trial that cannot be ended on request ends by itself
  /// (`TrialSpec::time_to_measure_s`).
  double time_to_measure_s = k_infinity;
  std::optional<SlowLimit> slow_limit{};  ///< as in `TrialSpec`
  int interleaved_round = 0;              ///< as in `TrialSpec`
  /// Upper end of the incumbent's interval, in the unit of the first objective; less is better. A
  /// trial that is certainly slower needs no further measuring. Unset: no such limit.
  std::optional<double> to_beat{};
  /// True if every guard judged an earlier trial of this configuration, and none was violated. Then
  /// a fresh run may be too short for a guard.
  bool kept_guards = false;
  /// The baseline's seconds per sample. A confirming run continues until an undrained buffer can
  /// explain at most a third of the run's gain. Unset: no such wait.
  std::optional<double> baseline_seconds_per_sample{};
  double usual_variance_s = 0.0;  ///< as in `MeasureOptions`
  LaunchVariation launches{};     ///< launch variation of the study's trials so far
  BatchApplied batch_applied = BatchApplied::unknown;
};

/// Sets a longer window for the study's first trial. All other trials are compared with it, and no
/// earlier trial shows how much steps vary. Asks for at least seven times as many steps as in other
/// trials. Fewer suffice after ten times the least window, or after half of the trial's share of a
/// time budget. With a money budget, fewer also suffice after a twentieth of it (`targets_of`).
void measure_longer(TrialTargets& targets);

/// State of a study at the launch of a trial.
struct LaunchState {
  const StudySpec& study;
  const Standing& standing;  ///< includes the trial
  Spending spending;         ///< with the current time and money
  double now_s = 0.0;        ///< loop's clock
  double elapsed_s = 0.0;    ///< tuning time
  double ran_s = 0.0;        ///< time that a confirming run used before a restart of the tuner
  /// Runs that the trial's confirming round still has, this run included.
  std::size_t runs_left_in_round = 1;
  bool interleaves = false;    ///< the runs of a confirming round are interleaved
  bool one_at_a_time = false;  ///< trials run on this machine, one at a time
  int search_round = 0;        ///< round of the trial (`SearchRounds`); 0: none
};

/// Returns the targets of a trial.
[[nodiscard]] TrialTargets targets_of(const TrialRecord& trial, const LaunchState& state);

}  // namespace steptune
