// SPDX-License-Identifier: Apache-2.0
#pragma once

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

namespace steptune {

/// The trials under way: starts them, listens, ends them, and commits every change of state to the
/// history before acting on it. Errors are those of the runner and of the recorder. Not thread
/// safe.
class RunningTrials {
 public:
  using TargetsOf = std::function<TrialTargets(const TrialRecord&)>;

  /// All outlive the object.
  RunningTrials(const LoopParts& parts, RunnerEvents& events, Recorder& recorder,
                const Stopwatch& stopwatch)
      : parts_(&parts), events_(&events), recorder_(&recorder), stopwatch_(&stopwatch) {}

  /// Commits the intent, then starts the trial. `trial` has number, purpose, origin, configuration
  /// and attempt. If the runner refuses, the trial is recorded as interrupted.
  [[nodiscard]] Result<void> launch(TrialRecord trial, TrialTargets targets,
                                    const TrialRecord* baseline);

  /// Takes over what a former run of the tuner has left running. Returns the others, in order.
  [[nodiscard]] Result<std::vector<TrialRecord>> adopt(std::vector<TrialRecord> open,
                                                       const TargetsOf& targets_of);

  /// Waits a moment for something to happen, acts on it, and returns the trials that have ended
  /// (interrupted ones included), already recorded. `baseline` is null until it has been measured.
  [[nodiscard]] Result<std::vector<TrialRecord>> listen(const TrialRecord* baseline);

  /// Asks all trials to end on the user's behalf; at once and without grace if `force`.
  void interrupt(bool force);
  /// Asks those to end that wait for a machine; returns how many.
  std::size_t withdraw(std::span<const TrialKey> waiting);
  /// Records as interrupted what still runs, for a runner that does not answer any more.
  [[nodiscard]] Result<std::vector<TrialRecord>> give_up();

  /// Leaves the trials to themselves: they are recorded as running, for `adopt`.
  void forget() { trials_.clear(); }

  /// Whether a trial that `listen` returned was interrupted since its part of the time was over:
  /// the next attempt would have less.
  [[nodiscard]] bool lacked_time(std::int64_t number) const {
    return lacked_time_.contains(number);
  }

  /// True if one had to end because it was interleaved with others.
  [[nodiscard]] bool interleaving_failed() const { return interleaving_failed_; }

  [[nodiscard]] std::size_t size() const { return trials_.size(); }
  [[nodiscard]] bool empty() const { return trials_.empty(); }
  /// In order of number.
  [[nodiscard]] std::vector<Configuration> configurations() const;
  /// A trial that runs and has told no progress; null if there is none.
  [[nodiscard]] const RunningTrial* without_progress() const;
  /// Ends a trial as failed: nothing will be read from its output.
  void refuse(TrialKey key, std::string why);
  /// What the trials under way cost: so far, or at least what `least_s` seconds of each do.
  [[nodiscard]] double usd_committed(double least_s) const;
  /// The most that the trials under way can cost: their machines for the whole of `longest_s` each.
  [[nodiscard]] double usd_bound(double longest_s) const;

 private:
  void begin(TrialRecord trial, TrialTargets targets);
  [[nodiscard]] RunningTrial* find(TrialKey key);
  [[nodiscard]] Result<void> on_event(const TrialStarted& event);
  [[nodiscard]] Result<void> on_event(const TrialReported& event);
  [[nodiscard]] Result<void> on_event(const TrialDisturbed& event);
  [[nodiscard]] Result<void> on_event(const TrialPaused& event);
  [[nodiscard]] Result<void> on_event(const TrialFinished& event);
  void end_overdue();
  void show_progress();
  void keep_spent();

  const LoopParts* parts_;
  RunnerEvents* events_;
  Recorder* recorder_;
  const Stopwatch* stopwatch_;
  std::map<std::int64_t, RunningTrial> trials_;  ///< by number
  const TrialRecord* baseline_ = nullptr;        ///< valid within `listen`
  std::vector<TrialRecord> ended_;               ///< since the last `listen`
  std::set<std::int64_t> lacked_time_;           ///< by their last launch
  bool interleaving_failed_ = false;
  double shown_s_ = 0.0;
  bool shown_ = false;
};

}  // namespace steptune
