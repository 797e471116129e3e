// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/loop/study_run.hpp"

namespace steptune {

/// Trials that were cut off. They run again as long as there is time for them.
class PendingTrials {
 public:
  /// `run` outlives the object.
  explicit PendingTrials(StudyRun& run) : run_(&run) {}

  /// Queues a trial that was cut off for a further attempt.
  void add(TrialRecord trial);
  /// Queues a trial that ended as interrupted, if there is time for a further attempt.
  void on_interrupted(const TrialRecord& trial);
  /// Removes and returns the next trial to run again. `confirming`: the search is over, so
  /// confirming runs may run again, too.
  [[nodiscard]] std::optional<TrialRecord> next(bool confirming);

  /// Ends the trials that still wait for machines, and warns the user. Call it when the time to
  /// wait is over.
  void withdraw_waiting();
  /// Drops the queued search trials, and warns the user. Call it when no time is left for them. A
  /// later run with more time repeats them.
  void drop_late();

  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  /// Returns the number of trials that `withdraw_waiting` has ended.
  [[nodiscard]] std::size_t withdrawn() const { return withdrawn_.size(); }
  /// Returns how many trials got no machine in time, or had no time to run again.
  [[nodiscard]] std::size_t without_time() const { return withdrawn_.size() + dropped_.size(); }
  /// Returns the numbers of the trials that had no time to run again.
  [[nodiscard]] const std::vector<std::int64_t>& dropped() const { return dropped_; }
  /// Returns the numbers of all trials that were cut off and did not run again.
  [[nodiscard]] std::vector<std::int64_t> cut_off() const;

 private:
  StudyRun* run_;
  std::deque<TrialRecord> queue_;  ///< with `attempt` already increased
  std::vector<std::int64_t> withdrawn_;
  std::vector<std::int64_t> dropped_;
};

}  // namespace steptune
