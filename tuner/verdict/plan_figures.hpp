// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/recommendation.hpp"

namespace steptune {

/// Runs of one configuration. The configuration's figures are means over them.
using ConfigurationRuns = std::vector<const TrialRecord*>;

/// Returns half-widths of the 95 % intervals for one further launch, one for each objective.
/// `values`: means over `runs`.
///
/// The intervals are prediction intervals for normally distributed values. They include the
/// variation between launches, with its degrees of freedom, and the variation within runs. For
/// whole runs without a steady state, the variation between launches already includes the variation
/// within runs. If the planned run may be longer than these runs, adds their uncertainty about a
/// longer run. More runs do not reduce this uncertainty. NaN for an objective with an unknown
/// error.
[[nodiscard]] std::vector<double> next_launch_half_widths(const ConfigurationRuns& runs,
                                                          const std::vector<double>& values,
                                                          const LaunchVariation& variation,
                                                          const PlannedRun& plan);

/// Returns the total seconds of the measured windows of all runs; NaN if there is none.
[[nodiscard]] double measured_s(const ConfigurationRuns& runs);

/// Returns how the samples of a step were counted, for people: `as the program counts them, 256 a
/// step`. Mentions a difference between the program's count and `planned_run.batch_size`: the
/// program may count micro-batches or one of several ranks. Empty if unknown.
[[nodiscard]] std::string samples_counted(const StudySpec& study, const TrialRecord& trial);

/// Sets the interval of the payback share from the interval of the speed-up.
void set_payback_interval(Recommendation& recommendation);

}  // namespace steptune
