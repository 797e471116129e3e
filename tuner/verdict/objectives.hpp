// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "trial_runner/measure/measurement.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// A trial's objectives as the study states them (not negated).
struct ObjectiveValues {
  std::vector<double> values;
  std::vector<double> standard_errors;  ///< 0 for reported metrics: nothing is known about theirs
};

/// What a measurement is worth: `time` and `cost` (USD) of the planned run (`planned_time`), or
/// those of a million samples in steady state where the study tells no number of samples; other
/// objectives are the last value that the trial reported. `baseline`, null where there is none,
/// tells phases that this trial was too short for. `price_usd_per_hour` is that of the trial's
/// machines (`usd_per_hour`). The error says, for people, what is missing.
[[nodiscard]] tl::expected<ObjectiveValues, std::string> objective_values(
    const StudySpec& study, const Measurement& measurement, double price_usd_per_hour,
    const Measurement* baseline = nullptr);

/// True if every objective is `time` or `cost`: then a tight interval is all that a trial is run
/// for.
[[nodiscard]] bool all_timed(const StudySpec& study);

/// Index of the objective `time`; nothing where the study has none.
[[nodiscard]] std::optional<std::size_t> time_objective(const StudySpec& study);

/// A value turned so that less is better.
[[nodiscard]] double to_minimized(const Objective& objective, double value);

}  // namespace steptune
