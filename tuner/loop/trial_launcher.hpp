// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/pending_trials.hpp"
#include "tuner/loop/study_run.hpp"
#include "tuner/loop/trial_targets.hpp"

namespace steptune {

/// Launches trials, as far as the runner has places for them.
class TrialLauncher {
 public:
  /// Both arguments outlive the object.
  TrialLauncher(StudyRun& run, const PendingTrials& pending) : run_(&run), pending_(&pending) {}

  /// True if the runner has a place for another search trial in addition to the running trials.
  [[nodiscard]] bool takes_another() const;
  /// Launches a trial. `search_round`: number of its search round (`SearchRounds`); 0: none.
  [[nodiscard]] Result<void> launch(TrialRecord trial, int search_round = 0);
  /// Launches confirming runs in addition to the first run of `round`: the runs interleaved with
  /// it. On machines that run several trials in turn, also launches the usual further rounds.
  [[nodiscard]] Result<void> launch_beside(int round);
  /// Returns the targets of a trial that is launched or adopted now.
  [[nodiscard]] TrialTargets targets_now(const TrialRecord& trial, int search_round = 0) const;

 private:
  [[nodiscard]] Result<void> launch_rest_of_round(int round);
  [[nodiscard]] Result<void> launch_more_rounds();
  /// Returns the most trials that may still be launched; nullopt if that is not known.
  [[nodiscard]] std::optional<std::int64_t> further_trials() const;

  StudyRun* run_;
  const PendingTrials* pending_;
};

}  // namespace steptune
