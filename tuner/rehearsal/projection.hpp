// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/rehearsal/rehearsal.hpp"

namespace steptune {

/// A figure over several rehearsals.
struct Range {
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// What a tuning is expected to take, over several rehearsals.
struct Projection {
  std::string speeds;  ///< what the speeds of trials were taken from, for people
  int repeats = 0;
  Range duration_s;
  std::optional<Range> usd;               ///< nothing where the provider counts without a price
  std::optional<Range> not_training_usd;  ///< part of `usd`
  std::optional<Range> waiting_usd;  ///< of whoever waits, where the study says what that is worth
  std::optional<Range> machine_hours;  ///< where the provider counts them
  Range trials;
  Range cold_starts;
  Range warm_starts;
  std::vector<std::string> warnings;
};

struct ProjectionOptions {
  std::string seconds_per_sample;  ///< expression; empty: from the history, else assumed
  int repeats = 5;
  std::filesystem::path database;  ///< where an earlier run of the study may be found
};

/// Rehearses a study several times; the same study and the same speeds give the same figures.
/// Errors: a runner whose trials cost nothing (`usage`), an
/// expression that does not compile, those of the loop.
[[nodiscard]] Result<Projection> project_tuning(const StudySpec& study,
                                                const ProjectionOptions& options);

/// For people; ends with a newline.
[[nodiscard]] std::string projection_text(const StudySpec& study, const Projection& projection);

}  // namespace steptune
