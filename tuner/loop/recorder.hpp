// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "trial_runner/machine_holder.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/loop/stopwatch.hpp"

namespace steptune {

/// Events of the runner. Keeps the events that arrive while the loop waits for another reason.
class RunnerEvents {
 public:
  explicit RunnerEvents(const LoopParts& parts) : parts_(&parts) {}

  /// Returns the kept events, or if there are none, the runner's events until the deadline.
  [[nodiscard]] Result<std::vector<TrialEvent>> next(double deadline_s);
  /// Waits until the deadline while the runner continues its work.
  [[nodiscard]] Result<void> pass_time(double deadline_s);

 private:
  const LoopParts* parts_;
  std::vector<TrialEvent> kept_;
};

/// Writes trials, the study and decisions about it to the history. If the disk causes an error,
/// tries again for a minute: results took minutes to measure, so waiting for space is worthwhile.
class Recorder {
 public:
  /// All arguments outlive the recorder, which keeps `study` up to date.
  Recorder(const LoopParts& parts, RunnerEvents& events, const Stopwatch& stopwatch,
           StudyRecord& study)
      : parts_(&parts),
        machines_(&parts.runner.machine_holder()),
        events_(&events),
        stopwatch_(&stopwatch),
        study_(&study) {}

  // Each function is one transaction of the history (`History::record_launching` and so on). Errors
  // come from the history after a minute of retries, or from the runner in that minute.
  [[nodiscard]] Result<void> launching(const TrialRecord& trial);
  [[nodiscard]] Result<void> running(const TrialRecord& trial);
  [[nodiscard]] Result<void> ended(const TrialRecord& trial, const TrialTrace& trace = {});
  [[nodiscard]] Result<void> study();

  /// True if the cost of running trials was last recorded at least a minute ago, so that a kill
  /// would lose much.
  [[nodiscard]] bool is_due() const;
  /// Records the cost of running trials and the study's time. Does not try again, because the end
  /// of a trial records its whole cost.
  void spent(std::span<const TrialRecord> running);

  /// Logs a decision about the study, with the current time. The next call that writes totals, or
  /// `keep_decisions`, records the decision.
  void decided(StudyDecision decision);
  /// Records the decisions that are not recorded yet. Otherwise a kill would lose them, because a
  /// continued study does not repeat them.
  [[nodiscard]] Result<void> keep_decisions();

  /// Adds the cost of machines while they ran no trial to the study's cost. The next call that
  /// writes totals records it.
  void count_unused();

 private:
  /// Updates the totals of time and money, and calls `write`, which records them, with retries.
  [[nodiscard]] Result<void> insist_with_totals(const std::function<Result<void>()>& write);
  [[nodiscard]] Result<void> insist(const std::function<Result<void>()>& write);

  const LoopParts* parts_;
  MachineHolder* machines_;
  RunnerEvents* events_;
  const Stopwatch* stopwatch_;
  StudyRecord* study_;
  double recorded_s_ = 0.0;  ///< stopwatch time of the latest `spent`
  bool gave_up_ = false;  ///< the last write failed for a minute; the next write is tried only once
};

}  // namespace steptune
