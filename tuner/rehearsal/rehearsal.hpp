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

/// How one tuning went.
struct RehearsedTuning {
  double duration_s = 0.0;
  RehearsalBill bill;                   ///< as the simulated provider makes it out
  double counted_usd = 0.0;             ///< what the tuner itself makes of it
  int trials = 0;                       ///< search and confirmation
  std::vector<TrialRecord> confirming;  ///< runs, as recorded, in the order of their numbers
  std::optional<Configuration> recommended;
  std::vector<std::string> warnings;
  std::vector<std::string> trial_warnings;  ///< those about single trials
};

/// Plays a study's whole tuning against a simulated provider under a virtual clock: the real loop,
/// searcher, scheduler and runner, nothing outside, nothing paid. `seed` draws what differs from
/// one day to the next (starts, noise of steps). `wall_time_s` is the date that the play begins on.
/// Errors: a runner whose trials cost nothing (`usage`), those of the loop.
[[nodiscard]] Result<RehearsedTuning> rehearse_tuning(const StudySpec& study,
                                                      const SpeedModel& speed, std::uint64_t seed,
                                                      double wall_time_s);

}  // namespace steptune
