// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/pending_trials.hpp"
#include "tuner/loop/study_run.hpp"
#include "tuner/loop/trial_warnings.hpp"

namespace steptune {

/// Acts on trials that have ended: informs searcher, scheduler and user, and records decisions
/// about the study. Ends the search if the baseline could not be measured.
class EndedTrials {
 public:
  /// Both arguments outlive the object.
  EndedTrials(StudyRun& run, PendingTrials& pending)
      : run_(&run), pending_(&pending), warnings_(run.parts.study, run.parts.listener) {}

  /// Processes a trial that has ended and that the history has recorded.
  [[nodiscard]] Result<void> add(const TrialRecord& trial);
  /// Gives trials that ended in earlier runs of the tuner to searcher and scheduler, in the order
  /// of their ends. `counts_failures`: failed trials count for `too_many_failures`.
  void learn_from(std::vector<const TrialRecord*> ended, bool counts_failures);
  /// Returns the end of the search if too many trials in a row have failed, otherwise nullopt.
  [[nodiscard]] std::optional<SearchEnd> too_many_failures() const;

  /// If an inspection has measured the program's start-up, reports how many trials the budget
  /// allows. Does nothing for a continued study, which has already reported this.
  void report_planned_course();

 private:
  /// Records the decisions that follow from a sentinel or a confirming run.
  void conclude_from(const TrialRecord& trial);
  void observe(const TrialRecord& trial, const LaunchVariation& launches);
  /// Gives the values of an ended trial to the scheduler for comparison. If the trial does not
  /// count, removes it from the scheduler.
  void update_scheduler(const TrialRecord& trial);
  void report_interleaving_failed(const TrialRecord& trial);
  void count_failures(const TrialRecord& trial);
  void check_baseline(const TrialRecord& baseline);
  /// Reports once how many trials the budget allows for a program with this start-up.
  void report_planned_course(double startup_s);

  StudyRun* run_;
  PendingTrials* pending_;
  TrialWarnings warnings_;
  bool reported_course_ = false;
  bool warned_of_interleaving_ = false;
  int failures_in_a_row_ = 0;
  std::string last_failure_;
};

}  // namespace steptune
