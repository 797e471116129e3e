// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "trial_runner/machine_holder.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/loop/stopwatch.hpp"

namespace steptune {

/// What the runner tells, for a loop that must at times wait for something else: events that arrive
/// meanwhile are kept.
class RunnerEvents {
 public:
  explicit RunnerEvents(const LoopParts& parts) : parts_(&parts) {}

  /// The events kept, or else those that the runner has until the deadline.
  [[nodiscard]] Result<std::vector<TrialEvent>> next(double deadline_s);
  /// Lets time pass until the deadline while the runner goes on working.
  [[nodiscard]] Result<void> pass_time(double deadline_s);

 private:
  const LoopParts* parts_;
  std::vector<TrialEvent> kept_;
};

/// Writes trials, the study and what was decided about it to the history. When that fails for the
/// disk's sake, it is tried again for a minute: results that took minutes to measure are worth
/// waiting for space.
class Recorder {
 public:
  /// All outlive the recorder; `study` is kept up to date.
  Recorder(const LoopParts& parts, RunnerEvents& events, const Stopwatch& stopwatch,
           StudyRecord& study)
      : parts_(&parts),
        machines_(&parts.runner.machine_holder()),
        events_(&events),
        stopwatch_(&stopwatch),
        study_(&study) {}

  // Each is one transaction of the history (`History::record_launching` and its like). Errors are
  // those of the history, after a minute, or of the runner meanwhile.
  [[nodiscard]] Result<void> launching(const TrialRecord& trial);
  [[nodiscard]] Result<void> running(const TrialRecord& trial);
  [[nodiscard]] Result<void> ended(const TrialRecord& trial, const TrialTrace& trace = {});
  [[nodiscard]] Result<void> study();

  /// Whether what running trials have taken is unrecorded for so long that a kill would lose much.
  [[nodiscard]] bool is_due() const;
  /// Records it, and the study's time. Is not tried again: what ends a trial records all of it.
  void spent(std::span<const SpentSoFar> running);

  /// Logs a decision about the study as of now; recorded with the next of the above that has
  /// totals, or by `keep_decisions`.
  void decided(StudyDecision decision);
  /// Records the decisions that are not recorded yet: those that nobody would take again after a
  /// kill.
  [[nodiscard]] Result<void> keep_decisions();

  /// Adds what the runner has spent on no trial to the study's; recorded with the next of the
  /// above.
  void count_unused();

 private:
  /// Time and money as they stand.
  [[nodiscard]] StudyTotals totals();
  /// `write` records the totals.
  [[nodiscard]] Result<void> insist_with_totals(
      const std::function<Result<void>(const StudyTotals&)>& write);
  [[nodiscard]] Result<void> insist(const std::function<Result<void>()>& write);

  const LoopParts* parts_;
  MachineHolder* machines_;
  RunnerEvents* events_;
  const Stopwatch* stopwatch_;
  StudyRecord* study_;
  double recorded_s_ = 0.0;  ///< on the stopwatch
  bool gave_up_ = false;     ///< the last write failed for a minute; the next one is tried once
  std::vector<UnusedTime> unused_;        ///< counted, not recorded yet
  std::vector<StudyDecision> decisions_;  ///< logged, not recorded yet
};

}  // namespace steptune
