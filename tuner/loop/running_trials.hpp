// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tuner/loop/loop.hpp"
#include "tuner/loop/recorder.hpp"
#include "tuner/loop/running_trial.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Starts, watches and ends the trials under way. Commits every change of state to the history
/// before acting on it. Errors come from the runner and the recorder. Not thread safe.
class RunningTrials {
 public:
  using TargetsOf = std::function<TrialTargets(const TrialRecord&)>;

  /// All arguments outlive the object.
  RunningTrials(const LoopParts& parts, RunnerEvents& events, Recorder& recorder,
                const Stopwatch& stopwatch, const Standing& standing)
      : parts_(&parts),
        events_(&events),
        recorder_(&recorder),
        stopwatch_(&stopwatch),
        standing_(&standing) {}

  /// Records the launch, then starts the trial. `trial` has number, purpose, origin, configuration
  /// and attempt. If the runner refuses, records the trial as interrupted and returns the runner's
  /// error.
  [[nodiscard]] Result<void> launch(TrialRecord trial, TrialTargets targets);

  /// Takes over trials that an earlier run of the tuner left running. Returns the trials that
  /// cannot be taken over, in order.
  [[nodiscard]] Result<std::vector<TrialRecord>> adopt(std::vector<TrialRecord> open,
                                                       const TargetsOf& targets_of);

  /// Waits a moment for events and acts on them. Returns the trials that have ended, including
  /// interrupted trials. Their ends are already recorded.
  [[nodiscard]] Result<std::vector<TrialRecord>> listen();

  /// Asks all trials to end because the user wants to stop. With `force`, kills them at once.
  void interrupt(bool force);
  /// Ends the trials in `waiting`, which have no machine yet. Returns their numbers. Skips trials
  /// whose end was already asked for.
  [[nodiscard]] std::vector<std::int64_t> withdraw(std::span<const TrialKey> waiting);
  /// Records all running trials as interrupted and returns them. For a runner that no longer
  /// answers.
  [[nodiscard]] Result<std::vector<TrialRecord>> give_up();

  /// Leaves the trials running. They stay recorded as running, for `adopt`.
  void forget() { trials_.clear(); }

  /// True if `listen` returned this trial as interrupted because its share of the budget was used
  /// up. Another attempt would have less time.
  [[nodiscard]] bool lacked_time(std::int64_t number) const {
    return lacked_time_.contains(number);
  }

  /// True if a trial had to end because it could not run interleaved with other trials.
  [[nodiscard]] bool interleaving_failed() const { return interleaving_failed_; }

  [[nodiscard]] std::size_t size() const { return trials_.size(); }
  [[nodiscard]] bool empty() const { return trials_.empty(); }
  /// Returns the configurations of the trials under way, in order of their numbers.
  [[nodiscard]] std::vector<Configuration> configurations() const;
  /// Returns a running trial that has reported no progress; null if there is none.
  [[nodiscard]] const RunningTrial* without_progress() const;
  /// Ends a trial as failed because nothing will be read from its output.
  void refuse(TrialKey key, std::string why);
  /// Returns the cost in USD of the trials under way: the cost so far, but at least the cost of
  /// `least_s` seconds for each trial.
  [[nodiscard]] double usd_committed(double least_s) const;
  /// Returns the highest possible cost in USD of the trials under way: `longest_s` seconds each.
  [[nodiscard]] double usd_bound(double longest_s) const;

 private:
  void begin(TrialRecord trial, TrialTargets targets);
  [[nodiscard]] RunningTrial* find(TrialKey key);
  [[nodiscard]] Result<void> on_event(const TrialStarted& event);
  [[nodiscard]] Result<void> on_event(const TrialReported& event);
  [[nodiscard]] Result<void> on_event(const TrialDisturbed& event);
  [[nodiscard]] Result<void> on_event(const TrialPaused& event);
  [[nodiscard]] Result<void> on_event(const TrialFinished& event);
  /// Returns the turns of the baseline's run in the trial's round; empty if there is no such run.
  [[nodiscard]] std::span<const Interval> turns_beside(const RunningTrial& trial) const;
  void end_overdue();
  void show_progress();
  void keep_spent();

  const LoopParts* parts_;
  RunnerEvents* events_;
  Recorder* recorder_;
  const Stopwatch* stopwatch_;
  const Standing* standing_;  ///< gives the baseline that trials are compared with
  std::map<std::int64_t, RunningTrial> trials_;  ///< by number
  std::vector<TrialRecord> ended_;               ///< trials that have ended since the last `listen`
  std::set<std::int64_t> lacked_time_;           ///< trials whose latest launch had too little time
  bool interleaving_failed_ = false;
  int latest_round_ = 0;                ///< round of the latest ended run of the baseline
  std::vector<Interval> latest_turns_;  ///< turns of that run
  double shown_s_ = 0.0;
  bool shown_ = false;
};

}  // namespace steptune
