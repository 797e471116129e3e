// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/loop/loop.hpp"

namespace steptune::null_studies {

/// A machine on which launches of one program differ.
struct Machine {
  double launch_variation = 0.0;  ///< relative standard deviation from launch to launch
  double drift_per_run = 0.0;     ///< each launch is so much slower than the one before it
  double step_noise = 0.01;       ///< relative standard deviation of a step
  double warmup_steps = 2.0;      ///< the first step takes twice as long, fading by this e-fold
  /// How much longer a step takes after so many seconds of the study, as a factor; empty: no
  /// longer.
  std::function<double(double elapsed_s)> slowness{};
  /// Mean number of steps from one stall to the next, which come at random; 0: none.
  double stall_period_steps = 0.0;
  double stall_steps = 0.0;  ///< so many steps a stall takes
};

/// What a study is given to find: eight configurations, of which the fifth is so many times as fast
/// as the seven others, the baseline among them; and what searches for it.
struct Program {
  double speed_up = 1.0;
  double startup_s = 1.0;
  /// In place of those eight: how fast each configuration is, the baseline's being the first.
  std::vector<double> speeds{};
  std::string searcher = "grid";
  /// `search.worth`; 0, as the fifth of eight numbers may be the only fast one, which no search
  /// that goes by its neighbours expects.
  double worth = 0.0;
  /// It comes to its own end after so many steps, and no longer run is planned; 0: never.
  double ends_after_steps = 0.0;
};

struct Outcome {
  Claim claim = Claim::unconfirmed;
  SpeedUp speed_up;
  double truth = 1.0;      ///< how many times as fast what was recommended really is
  double elapsed_s = 0.0;  ///< tuning time
  std::int64_t trials = 0;
  std::int64_t searched = 0;   ///< of the trials: baseline and those of the search
  double searched_s = 0.0;     ///< what these took
  std::int64_t sentinels = 0;  ///< of the trials: runs of the baseline in between
  bool told_drift = false;     ///< the result says that the machine drifted
};

/// Runs one study to its end under a virtual clock: everything but processes is real. `budget` and
/// `measure` are those of a study file; the order of the trials follows from `seed`. `folder` must
/// be empty and is left with the study's history.
[[nodiscard]] Result<Outcome> run_study(const Machine& machine, const Program& program,
                                        const Json& budget, std::uint64_t seed,
                                        const std::filesystem::path& folder,
                                        const Json& measure = Json::object());

}  // namespace steptune::null_studies
