// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/loop/loop.hpp"

namespace steptune::null_studies {

/// A simulated machine on which launches of one program differ.
struct Machine {
  double launch_variation = 0.0;  ///< relative standard deviation from launch to launch
  double drift_per_run = 0.0;     ///< relative slowdown of each launch over the one before it
  double step_noise = 0.01;       ///< relative standard deviation of a step
  int neighbours = 0;             ///< programs that use the machine in bursts (`Neighbours`)
  double neighbour_slowness = 1;  ///< factor on all times, once for each busy neighbour
  bool in_turns = false;      ///< trials of a round take turns of at least a quarter of a second
  double warmup_steps = 2.0;  ///< the first step takes twice as long; the excess falls by the
                              ///< factor e in this many steps
  /// Returns the factor on all step times of a launch that begins `elapsed_s` seconds after the
  /// study's start; empty: always 1.
  std::function<double(double elapsed_s)> slowness{};
  /// Mean number of steps from one stall to the next, which come at random; 0: none.
  double stall_period_steps = 0.0;
  double stall_steps = 0.0;  ///< length of a stall, in steps
};

/// Program that a study tunes, and the study's searcher. The program has eight configurations; the
/// first is the baseline. The fifth is `speed_up` times as fast as the others.
struct Program {
  double speed_up = 1.0;
  double startup_s = 1.0;
  /// Speed of each configuration, used instead of the eight. The first is the baseline.
  std::vector<double> speeds{};
  std::string searcher = "grid";
  /// `search.worth`. It is 0, so that the search tries all configurations: a searcher that learns
  /// from neighbours does not expect a single fast one.
  double worth = 0.0;
  /// Steps after which the program ends by itself, with no longer run planned; 0: never.
  double ends_after_steps = 0.0;
  double step_s = 0.1;  ///< step of the baseline on an idle machine, in seconds
};

/// A configuration with confirming runs.
struct ConfirmedFinalist {
  SpeedUp speed_up;
  double truth = 1.0;  ///< true speed-up
};

struct Outcome {
  Claim claim = Claim::unconfirmed;
  SpeedUp speed_up;
  double truth = 1.0;      ///< true speed-up of the recommended configuration
  double elapsed_s = 0.0;  ///< tuning time
  std::int64_t trials = 0;
  std::int64_t searched = 0;  ///< trials of the baseline and of the search
  double searched_s = 0.0;    ///< seconds that these trials took
  /// Number of sentinels: trials that measure the baseline again during the search.
  std::int64_t sentinels = 0;
  bool reports_drift = false;  ///< true if the result says that the machine drifted
  /// The recommended finalist. If none is recommended, the finalist with the most pairs; nullopt if
  /// there is none.
  std::optional<ConfirmedFinalist> finalist{};
};

/// Runs one study to its end under a virtual clock. Only the trials' processes are simulated.
/// `budget` and `measure` are sections of a study file. `seed` decides random effects and the order
/// of the trials; but `grid` tries the eight configurations in order. `folder` must be empty; the
/// study's history stays there.
[[nodiscard]] Result<Outcome> run_study(const Machine& machine, const Program& program,
                                        const Json& budget, std::uint64_t seed,
                                        const std::filesystem::path& folder,
                                        const Json& measure = Json::object());

}  // namespace steptune::null_studies
