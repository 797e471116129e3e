// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/loop/loop.hpp"

namespace steptune::null_studies {

/// A machine on which launches of one program differ.
struct Machine {
  double launch_variation = 0.0;  ///< relative standard deviation from launch to launch
  double drift_per_run = 0.0;     ///< each launch is so much slower than the one before it
  double step_noise = 0.01;       ///< relative standard deviation of a step
};

/// What a study is given to find: eight configurations, of which the fifth is so many times as fast
/// as the seven others, the baseline among them.
struct Program {
  double speed_up = 1.0;
  double startup_s = 1.0;
};

struct Outcome {
  Claim claim = Claim::unconfirmed;
  SpeedUp speed_up;
  double truth = 1.0;      ///< how many times as fast what was recommended really is
  double elapsed_s = 0.0;  ///< tuning time
  std::int64_t trials = 0;
};

/// Runs one study to its end under a virtual clock: everything but processes is real. `budget` is
/// that of a study file. `folder` must be empty and is left with the study's history.
[[nodiscard]] Result<Outcome> run_study(const Machine& machine, const Program& program,
                                        const Json& budget, std::uint64_t seed,
                                        const std::filesystem::path& folder);

}  // namespace steptune::null_studies
