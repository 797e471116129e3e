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

/// Draws the consequences of trials that end: tells searcher, scheduler and user, records decisions
/// about the study, and ends the search without a baseline.
class EndedTrials {
 public:
  /// Both arguments outlive the object.
  EndedTrials(StudyRun& run, PendingTrials& pending)
      : run_(&run), pending_(&pending), warnings_(run.parts.study, run.parts.listener) {}

  /// Takes in a trial that has ended and that the history has recorded.
  [[nodiscard]] Result<void> add(const TrialRecord& trial);
  /// Gives trials that ended in earlier runs of the tuner to searcher and scheduler, in the order
  /// of their ends. `counts_failures`: their failures in a row count.
  void learn_from(std::vector<const TrialRecord*> ended, bool counts_failures);
  /// Returns the end of a search in which too many trials in a row have failed.
  [[nodiscard]] std::optional<SearchEnd> too_many_failures() const;

  /// Reports how far the budget goes if an inspection of the program has shown its start-up. A
  /// study that continues has already reported it.
  void report_planned_course();

 private:
  /// Records the decisions that follow from a sentinel or a confirming run.
  void conclude_from(const TrialRecord& trial);
  void observe(const TrialRecord& trial, const LaunchVariation& launches);
  /// Gives the values of an ended trial to the scheduler for comparison, or removes the trial from
  /// it if it does not count.
  void update_scheduler(const TrialRecord& trial);
  void tell_interleaving_failed(const TrialRecord& trial);
  void count_failures(const TrialRecord& trial);
  void check_baseline(const TrialRecord& baseline);
  /// Reports once how far the budget goes for a program with this start-up.
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
