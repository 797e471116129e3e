// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/recommendation.hpp"

namespace steptune {

/// Runs of one configuration, whose means are its figures.
using ConfigurationRuns = std::vector<const TrialRecord*>;

/// Returns half-widths of the 95 % intervals for one further launch, one for each objective.
/// `values`: means over `runs`.
///
/// They are prediction intervals of a normal sample. They include the variation between launches,
/// with its degrees of freedom, and the variation within runs. For whole runs without a steady
/// state, the variation between launches already includes that within runs. Unless the plan is
/// known to be no longer than these runs, adds their uncertainty about a longer run, however many
/// runs there are. NaN for an objective with an unknown error.
[[nodiscard]] std::vector<double> next_launch_half_widths(const ConfigurationRuns& runs,
                                                          const std::vector<double>& values,
                                                          const LaunchVariation& variation,
                                                          const PlannedRun& plan);

/// Returns the seconds of steady training that the runs were measured for.
[[nodiscard]] double measured_s(const ConfigurationRuns& runs);

/// Returns how the samples of a step were counted, for people: `as the program counts them, 256 a
/// step`. Mentions if the program's count and `planned_run.batch_size` differ, because the program
/// counts micro-batches or one of several ranks. Empty if unknown.
[[nodiscard]] std::string samples_counted(const StudySpec& study, const TrialRecord& trial);

/// Sets the payback's interval from the interval of the speed-up.
void set_payback_interval(Recommendation& recommendation);

}  // namespace steptune
