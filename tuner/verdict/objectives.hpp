// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/interval.hpp"
#include "trial_runner/measure/measurement.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Computes a trial's objectives from its measurement, as the study states them (not negated). The
/// error of a reported metric is unknown and returned as 0. `time` and `cost` (USD) are for the
/// planned run (`planned_time`). If the study gives no number of samples, they are for a million
/// samples in steady state. Any other objective is the last value that the trial reported.
///
/// `baseline`: the baseline's measurement, for phases that this trial was too short to show; null
/// if there is none. `price_usd_per_hour`: price of the trial's machines (`usd_per_hour`). The
/// error says, for people, what is missing.
[[nodiscard]] tl::expected<std::vector<MeasuredValue>, std::string> objective_values(
    const StudySpec& study, const Measurement& measurement, double price_usd_per_hour,
    const Measurement* baseline = nullptr);

/// True if every objective is `time` or `cost`. A trial may then end as soon as its interval is
/// tight.
[[nodiscard]] bool all_timed(const StudySpec& study);

/// Returns the index of the objective `time`; nullopt if the study has none.
[[nodiscard]] std::optional<std::size_t> time_objective(const StudySpec& study);

/// Returns the value with the sign changed if the objective is maximized, so that less is better.
[[nodiscard]] double to_minimized(const Objective& objective, double value);

}  // namespace steptune
