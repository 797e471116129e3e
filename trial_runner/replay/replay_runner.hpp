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

struct ReplayOptions {
  int parallel = 1;
  std::uint64_t seed = 0;
  double startup_s = 5.0;  ///< process start to the first step's start, give or take 2 %
  StepNoise noise;
  std::optional<double> steps;  ///< after which trials complete; default: they run until stopped
  /// Ends that trials come to by themselves; null or nothing: none. Called once for each trial.
  std::function<std::optional<ReplayEnd>(const TrialSpec&)> end_of;
};

/// Replays trials from a model under a virtual clock, which `wait` sets forward to the next event
/// or the deadline: hours pass in milliseconds. No processes, no files. Everything follows from the
/// seed, the trial's key and its configuration, whatever runs beside it. Wall and idle limits hold;
/// a stopped trial ends 0.1 s (at most its grace period) later, killed ones at once. No trial
/// outlives the runner, so `adopt` takes none over. `clock` outlives the runner.
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
  std::vector<ReplayTrial> trials_;  ///< running, in order of their start
};

}  // namespace steptune
