// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/admission.hpp"
#include "trial_runner/replay/replay_model.hpp"
#include "trial_runner/replay/replay_trial.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Time from a request to stop until a replayed trial has ended, unless its grace period is
/// shorter.
inline constexpr double k_replayed_stop_s = 0.1;

struct ReplayOptions {
  int parallel = 1;
  std::uint64_t seed = 0;
  /// Time from the process's start to the first step. Varies between trials with a standard
  /// deviation of 2 %.
  double startup_s = 5.0;
  StepNoise noise;
  /// Number of steps after which trials complete; nullopt: trials run until stopped.
  std::optional<double> steps;
  /// Returns how and when a trial ends by itself; nullopt: it does not. Called once for each trial.
  /// If the function is empty, no trial ends by itself.
  std::function<std::optional<ReplayEnd>(const TrialSpec&)> end_of;
};

/// Replays trials from a model under a virtual clock, so that hours pass in milliseconds. `wait`
/// advances the clock to the next event or the deadline. Uses no processes and no files. Results
/// depend only on the seed, the trial's key and its configuration, not on other trials. Wall and
/// idle limits apply. A stopped trial ends after 0.1 s (at most its grace period), a killed one at
/// once. No trial outlives the runner, so `adopt` takes over none. `clock` outlives the runner.
class ReplayRunner final : public Runner {
 public:
  ReplayRunner(VirtualClock& clock, ReplayModel model, ReplayOptions options);

  [[nodiscard]] Result<void> begin_study(const std::string& name,
                                         const std::string& identity) override;
  [[nodiscard]] int capacity() const override { return options_.parallel; }
  [[nodiscard]] Result<void> start(const TrialSpec& spec) override;
  [[nodiscard]] Result<std::vector<TrialEvent>> wait(double deadline_s) override;
  void stop(TrialKey key) override;
  void kill_all() override;
  [[nodiscard]] Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) override;

 private:
  VirtualClock& clock_;
  ReplayModel model_;
  ReplayOptions options_;
  Admission admission_;
  std::vector<ReplayTrial> trials_;  ///< running trials, in order of their start
};

}  // namespace steptune
