// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/search_trials.hpp"
#include "tuner/loop/study_run.hpp"
#include "tuner/loop/trial_launcher.hpp"

namespace steptune {

/// Rounds of search trials, on a machine that other programs use, too. In a round, a sentinel and
/// up to three search trials take short turns in the same period of time. A trial's time is the
/// baseline's time multiplied by the ratio of its turns to the sentinel's turns (`ratio_in_turns`).
/// So a trial does not look fast because other programs were quiet.
class SearchRounds {
 public:
  /// All arguments outlive the object.
  SearchRounds(StudyRun& run, SearchTrials& search, TrialLauncher& launcher)
      : run_(&run), search_(&search), launcher_(&launcher) {}

  /// Launches a trial of the search. If the trial begins a round, launches the whole round.
  [[nodiscard]] Result<void> launch(TrialRecord trial);

 private:
  /// True if the trial is to begin a round. Rounds begin once other programs used much of the
  /// machine in more than a third of the latest trials (`machine_is_shared`).
  [[nodiscard]] bool begins_round(const TrialRecord& trial) const;
  /// Launches `first`, a sentinel, and the search's next trials.
  [[nodiscard]] Result<void> launch_round(TrialRecord first);

  StudyRun* run_;
  SearchTrials* search_;
  TrialLauncher* launcher_;
  bool is_announced_ = false;
};

}  // namespace steptune
