// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/recommendation.hpp"

namespace steptune {

/// Runs of one configuration. The configuration's figures are means over these runs.
using ConfigurationRuns = std::vector<const TrialRecord*>;

/// Returns, for each objective, the half-width of the 95 % prediction interval of one further
/// launch. `values`: means over `runs`.
///
/// Values are assumed to be normally distributed. The half-width includes the variation between
/// launches, with its degrees of freedom, and the variation within runs. For at least two whole
/// runs without a steady state, the variation between launches already includes the variation
/// within runs. If the planned run may be longer than such runs, adds their own errors, which
/// describe how a longer run may differ. More runs do not reduce this part. NaN if a needed error
/// is unknown.
[[nodiscard]] std::vector<double> next_launch_half_widths(const ConfigurationRuns& runs,
                                                          const std::vector<double>& values,
                                                          const LaunchVariation& variation,
                                                          const PlannedRun& plan);

/// Returns the total seconds of the measured windows of all runs; NaN if there is no window.
[[nodiscard]] double measured_s(const ConfigurationRuns& runs);

/// Returns how the samples of a step were counted, for people: `as the program counts them, 256 a
/// step`. Mentions a difference between the program's count and `planned_run.batch_size`: the
/// program may count micro-batches or one of several ranks. Empty if nothing was measured, or if no
/// number is known and the study's unit is not samples.
[[nodiscard]] std::string samples_counted(const StudySpec& study, const TrialRecord& trial);

/// Sets the interval of the payback share from the interval of the speed-up.
void set_payback_interval(Recommendation& recommendation);

}  // namespace steptune
