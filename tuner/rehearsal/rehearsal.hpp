// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "trial_runner/rehearsal_stage.hpp"
#include "tuner/history/history.hpp"
#include "tuner/rehearsal/speed_model.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Result of one rehearsed tuning.
struct RehearsedTuning {
  double duration_s = 0.0;
  RehearsalBill bill;                   ///< from the simulated provider
  double counted_usd = 0.0;             ///< cost as the tuner counts it
  int trials = 0;                       ///< number of all trials, confirming runs included
  std::vector<TrialRecord> confirming;  ///< confirming runs as recorded, in order of number
  std::optional<Configuration> recommended;
  std::vector<std::string> warnings;
  std::vector<std::string> trial_warnings;  ///< about single trials
};

/// Runs a study's whole tuning against a simulated provider under a virtual clock: the real loop,
/// searcher, scheduler and runner, without outside effects or costs. `seed` decides the random
/// effects: durations of starts, noise of steps. `wall_time_s`: date at which the rehearsal starts.
/// Fails for a runner without a simulated provider (`usage`), and with the errors of the loop.
[[nodiscard]] Result<RehearsedTuning> rehearse_tuning(const StudySpec& study,
                                                      const SpeedModel& speed, std::uint64_t seed,
                                                      double wall_time_s);

}  // namespace steptune
