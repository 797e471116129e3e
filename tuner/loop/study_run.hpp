// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/machine_holder.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/loop/recorder.hpp"
#include "tuner/loop/running_trials.hpp"
#include "tuner/loop/stopwatch.hpp"
#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// State of a study while the tuner runs: its trials, and the time and money spent so far. All
/// parts of `Tuning` work on it.
class StudyRun {
  Standing standing_;  ///< precedes `running`, which reads it

 public:
  /// `loop_parts` outlives the object. `study_record` is the study's record in the history.
  StudyRun(const LoopParts& loop_parts, StudyRecord study_record);
  StudyRun(const StudyRun&) = delete;
  StudyRun& operator=(const StudyRun&) = delete;

  const LoopParts& parts;
  MachineHolder& machines;
  StudyRecord record;  ///< record of the study; `recorder` keeps this record up to date
  Stopwatch stopwatch;
  RunnerEvents events;  ///< events for `recorder` and `running`
  Recorder recorder;
  RunningTrials running;
  std::optional<SearchEnd> end;    ///< unset while the search continues
  bool confirmed = false;          ///< the search continues after a confirmation
  bool waits_for_results = false;  ///< the searcher has no suggestion until a running trial ends

  /// Returns all trials. Running trials have the record from their launch.
  [[nodiscard]] const Standing& standing() const { return standing_; }
  /// Returns the confirmation that follows from the trials.
  [[nodiscard]] const Confirmation& confirmation() const;
  /// Adds or replaces a trial.
  void put(TrialRecord trial);
  /// Replaces all trials by `trials`, which come from the history.
  void restore(std::vector<TrialRecord> trials);
  [[nodiscard]] TrialRecord new_trial(TrialPurpose purpose, std::string origin,
                                      Configuration configuration) const;
  /// Returns the trial with the current estimate of the machine's speed.
  [[nodiscard]] TrialRecord with_machine_level(TrialRecord trial) const;

  /// Returns how often the user has asked to stop.
  [[nodiscard]] int interrupts() const { return parts.interrupts ? parts.interrupts() : 0; }
  /// True if trials run on this machine one at a time. Interleaved trials also count as one at a
  /// time.
  [[nodiscard]] bool runs_one_at_a_time() const;
  /// True if the runs of a confirming round are interleaved (`TrialSpec::interleaved_round`).
  [[nodiscard]] bool interleaves() const;
  /// True if the study's kind allows further search after a confirmation.
  [[nodiscard]] bool may_continue_search() const;

  [[nodiscard]] Spending spending() const;
  /// Returns `spending` with the current time and money, including running trials.
  [[nodiscard]] Spending as_of_now(Spending spending) const;
  /// True if the runner holds machines and the rest of the time budget is kept for the
  /// confirmation.
  [[nodiscard]] bool search_time_is_over() const;
  /// True if no time is left for another trial with this purpose.
  [[nodiscard]] bool is_too_late_for(TrialPurpose purpose) const;
  /// True if the money budget allows one more trial, whatever it costs. Always true if the runner
  /// does not bound the bill of a trial (`RunnerTraits::longest_billed_s`).
  [[nodiscard]] bool can_pay_another() const;

  /// Ends the search for lack of time, unless it has already ended.
  void end_for_time();
  /// Gives a warning to the listener. `trial`: its number if the text is about one trial.
  void warn_of(std::optional<std::int64_t> trial, const std::string& text) const;
  /// Records a decision and gives its text to the listener.
  void announce(StudyDecision decision);

 private:
  mutable std::optional<Confirmation> confirmation_;  ///< unset until it is needed after a change
};

}  // namespace steptune
