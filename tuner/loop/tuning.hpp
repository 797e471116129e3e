// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/ended_trials.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/loop/pending_trials.hpp"
#include "tuner/loop/search_rounds.hpp"
#include "tuner/loop/search_trials.hpp"
#include "tuner/loop/study_run.hpp"
#include "tuner/loop/trial_launcher.hpp"

namespace steptune {

/// One run of the tuner over one study: carries out `run_loop`, phase by phase.
class Tuning {
 public:
  /// `study` is the history's record. `parts` outlives the object. `former`: as in `resume_study`.
  Tuning(const LoopParts& parts, StudyRecord study, std::optional<StudyStatus> former);
  Tuning(const Tuning&) = delete;
  Tuning& operator=(const Tuning&) = delete;

  /// Resumes, searches, confirms, concludes. On an error, ends the running trials and records them
  /// as interrupted, as far as the history allows.
  [[nodiscard]] Result<LoopResult> run();

 private:
  [[nodiscard]] Result<LoopResult> run_phases();
  [[nodiscard]] Result<void> search();
  [[nodiscard]] Result<void> confirm();
  /// True if the search continues after the confirmation, because the budget suffices for another
  /// trial and its confirmation.
  [[nodiscard]] bool continues_search() const;

  /// Waits a moment for events. Handles the trials that end, and the user's request to stop.
  [[nodiscard]] Result<void> listen();
  [[nodiscard]] Result<void> take_ended(const std::vector<TrialRecord>& trials);
  [[nodiscard]] Result<void> stop_for_user();
  [[nodiscard]] Result<void> detach();
  /// Ends the first trial if its output will never contain a report.
  void end_unread_trial();
  void forward_notices();
  /// Gives back machines that the runner keeps for trials, because no trial will follow.
  void release();
  /// Ends all trials after an error, and waits for their ends.
  void end_trials(const Error& error);

  StudyRun run_;
  PendingTrials pending_;
  EndedTrials ended_;
  TrialLauncher launcher_;
  SearchTrials search_;
  SearchRounds rounds_;
  std::optional<StudyStatus> former_;
  std::string left_running_;
};

}  // namespace steptune
