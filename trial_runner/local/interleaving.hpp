// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "trial_runner/local/local_trial.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Decides which of several interleaved trials (`TrialSpec::interleaved_round`) runs; all other
/// trials are paused. All trials start before the first turn, side by side if memory suffices. If
/// memory does not suffice for a further trial, a started trial runs to its end first. A started
/// trial stays paused until all trials have started. While a trial ends, no other trial has a turn.
/// Not thread safe.
class Interleaving {
 public:
  /// `most_starts`: largest number of trials that start side by side, such as the number of CPUs.
  explicit Interleaving(std::size_t most_starts) : most_starts_(most_starts) {}

  /// Adds a trial to the end of the queue of trials that have not started.
  void add(TrialSpec spec) { waiting_.push_back(std::move(spec)); }
  /// Drops the waiting trials that `which` selects, and returns their keys.
  [[nodiscard]] std::vector<TrialKey> cancel(const std::function<bool(TrialKey)>& which);
  [[nodiscard]] const std::deque<TrialSpec>& waiting() const { return waiting_; }
  /// Returns the round of the trials that wait or run; 0 without any.
  [[nodiscard]] int round() const {
    return waiting_.empty() ? round_ : waiting_.front().interleaved_round;
  }

  /// Pauses and resumes `trials`, which must be all running trials of the machine, according to
  /// their turns. Returns the trial to start now, if any. `free_bytes` returns the memory that one
  /// more trial may use.
  [[nodiscard]] std::optional<TrialSpec> advance(double now_s, std::vector<LocalTrial>& trials,
                                                 const std::function<double()>& free_bytes);

  /// Returns the next time at which `advance` has work without an event; infinite if there is none.
  [[nodiscard]] double next_timer_s(double now_s, const std::vector<LocalTrial>& trials) const;

 private:
  [[nodiscard]] bool may_start(const std::vector<LocalTrial>& trials) const;
  [[nodiscard]] bool has_memory(const std::vector<LocalTrial>& trials,
                                const std::function<double()>& free_bytes) const;
  void begin_turn(TrialKey key, std::int64_t reports_before, double now_s);
  [[nodiscard]] TrialSpec start_next(double now_s);
  /// Returns the trial that runs next. Returns nullopt while a trial starts or ends, because no
  /// trial has a turn then.
  [[nodiscard]] std::optional<TrialKey> next_turn(double now_s,
                                                  const std::vector<LocalTrial>& trials) const;
  [[nodiscard]] bool is_over(const LocalTrial& turn, double now_s) const;
  /// Divides the time since the last call among the trials that ran side by side.
  void share_time(double now_s, std::vector<LocalTrial>& trials);

  std::size_t most_starts_;
  std::deque<TrialSpec> waiting_;
  bool waits_for_memory_ = false;
  double most_bytes_ = 0.0;  ///< largest memory of a trial that has started, so far
  double shared_until_s_ = 0.0;
  int round_ = 0;  ///< round of the running trials
  TrialKey turn_;  ///< trial whose turn it is
  double turn_began_s_ = 0.0;
  std::int64_t reports_before_ = 0;  ///< its progress reports when its turn began
};

}  // namespace steptune::local
