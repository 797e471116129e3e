// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What a configuration's training program is taken to do.
struct AssumedSpeed {
  double seconds_per_sample = 0.0;
  double startup_s = 20.0;  ///< container's start to the first step
};
using SpeedModel = std::function<AssumedSpeed(const Configuration&)>;

/// Steps of 100 ms whatever the configuration.
[[nodiscard]] SpeedModel constant_speed(const StudySpec& study);
/// Seconds per sample as an expression over parameters and facts. Errors: it does not compile.
[[nodiscard]] Result<SpeedModel> expressed_speed(const StudySpec& study,
                                                 const std::string& seconds_per_sample);
/// As trials of an earlier tuning were measured; configurations that were not tried are taken to be
/// as fast as their mean. Nothing if none was measured.
[[nodiscard]] std::optional<SpeedModel> recorded_speed(const std::vector<TrialRecord>& trials);

/// How one tuning went.
struct RehearsedTuning {
  double duration_s = 0.0;
  double usd = 0.0;               ///< everything that the account was charged
  double counted_usd = 0.0;       ///< what the tuner itself makes of it
  double not_training_usd = 0.0;  ///< of it: downloads, uploads, warm pools that waited
  int trials = 0;                 ///< search and confirmation
  int cold_starts = 0;
  int warm_starts = 0;
  std::vector<std::string> warnings;
};

/// Plays a study's whole tuning against a simulated account under a virtual clock: the real loop,
/// searcher, scheduler and runner, nothing outside, nothing paid. `seed` draws what differs from
/// one day to the next (starts, noise of steps). `wall_time_s` is the date that the play begins on.
[[nodiscard]] Result<RehearsedTuning> rehearse_tuning(const StudySpec& study,
                                                      const SpeedModel& speed, std::uint64_t seed,
                                                      double wall_time_s);

}  // namespace steptune
