// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/interval.hpp"
#include "tuner/rehearsal/rehearsal.hpp"

namespace steptune {

/// Expected time and bill of a tuning. Each figure has the mean, the lowest and the highest value
/// of several rehearsals.
struct Projection {
  std::string speeds;  ///< source of the trials' speeds, for people
  int repeats = 0;
  Estimate duration_s;
  std::optional<Estimate> usd;  ///< unset if the provider has no price
  /// Part of `usd` for machines that do not train: downloads, uploads, machines kept idle.
  std::optional<Estimate> not_training_usd;
  /// Cost of waiting until the tuning ends, at the study's price of an hour. Unset without such a
  /// price. Not part of `usd`.
  std::optional<Estimate> waiting_usd;
  std::optional<Estimate> machine_hours;  ///< if the provider counts them
  Estimate trials;
  Estimate cold_starts;
  Estimate warm_starts;
  std::vector<std::string> warnings;
};

struct ProjectionOptions {
  /// Expression for the speeds. If empty, speeds come from the history, or are assumed.
  std::string seconds_per_sample;
  int repeats = 5;
  std::filesystem::path database;  ///< may contain an earlier run of the study
};

/// Rehearses a study several times. The same study and speeds give the same figures. Fails for a
/// runner without a simulated provider (`usage`), and for an expression that `expressed_speed`
/// refuses. Other errors come from the loop.
[[nodiscard]] Result<Projection> project_tuning(const StudySpec& study,
                                                const ProjectionOptions& options);

/// Returns the projection for people; ends with a newline.
[[nodiscard]] std::string projection_text(const StudySpec& study, const Projection& projection);

}  // namespace steptune
