// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/null_studies/neighbours.hpp"
#include "benchmarks/null_studies/pausable_trial.hpp"
#include "common/clock.hpp"
#include "trial_runner/admission.hpp"
#include "trial_runner/replay/replay_model.hpp"
#include "trial_runner/replay/replay_runner.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::null_studies {

/// Replays trials, one at a time, on a machine with neighbours. Trials report each step. If
/// `in_turns` is true, trials of one `TrialSpec::interleaved_round` take turns of at least a
/// quarter of a second. The rules are the local runner's (`local::Interleaving`). When a trial
/// ends, reports one `TrialDisturbed` event whose length is the time in which neighbours were busy.
/// `clock` outlives the runner.
class SharedMachineRunner final : public Runner {
 public:
  /// Ignores `options.parallel`.
  SharedMachineRunner(VirtualClock& clock, ReplayModel model, ReplayOptions options,
                      Neighbours neighbours, bool in_turns);
  // Trials point to the runner's neighbours.
  SharedMachineRunner(const SharedMachineRunner&) = delete;
  SharedMachineRunner& operator=(const SharedMachineRunner&) = delete;
  ~SharedMachineRunner() override = default;

  [[nodiscard]] Result<void> begin_study(const std::string& name,
                                         const std::string& identity) override;
  [[nodiscard]] int capacity() const override { return 1; }
  [[nodiscard]] bool interleaves() const override { return in_turns_; }
  [[nodiscard]] Result<void> start(const TrialSpec& spec) override;
  [[nodiscard]] Result<std::vector<TrialEvent>> wait(double deadline_s) override;
  void stop(TrialKey key) override;
  void kill_all() override;
  [[nodiscard]] Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) override;

 private:
  /// Returns the round of the trials that wait or run; 0 if there are none.
  [[nodiscard]] int round() const;
  void advance_turns(std::vector<TrialEvent>& events);
  /// Inserts a `TrialDisturbed` event before the trial's last event. Its length is the time in
  /// which neighbours were busy during the trial.
  static void add_disturbance(const PausableTrial& trial, double now_s,
                              std::vector<TrialEvent>& events);
  void start_next();
  void begin_turn(const PausableTrial& trial);
  [[nodiscard]] bool turn_is_over(const PausableTrial& turn) const;
  /// Returns the end of the turn if another trial waits for a turn; otherwise infinite.
  [[nodiscard]] double turn_timer_s() const;
  /// Ends the waiting trials that `which` selects, as stopped.
  void drop_waiting(const std::function<bool(TrialKey)>& which);

  VirtualClock& clock_;
  ReplayModel model_;
  ReplayOptions options_;
  Neighbours neighbours_;
  bool in_turns_;
  Admission admission_;
  std::deque<TrialSpec> waiting_;
  std::vector<PausableTrial> trials_;  ///< in order of their start
  std::vector<TrialEvent> unstarted_;  ///< ends of trials that never started
  TrialKey turn_;                      ///< trial whose turn it is
  double turn_end_s_ = 0.0;            ///< earliest end of the turn
  std::int64_t reports_before_ = 0;    ///< number of that trial's reports before the turn
};

}  // namespace steptune::null_studies
