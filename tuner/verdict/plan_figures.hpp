// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/recommendation.hpp"

namespace steptune {

/// The runs of one configuration that its figures are the means of.
using ConfigurationRuns = std::vector<const TrialRecord*>;

/// Half-widths of the 95 % intervals of what one further launch takes, `values` being the means
/// over `runs`, one for each objective: the prediction interval of a normal sample, with what
/// launches differ by, known with its degrees of freedom, and what varies within the runs. Of whole
/// runs without a steady state the former holds the latter, and what they do not know of a longer
/// run is added, however many there are, unless the plan is no longer. NaN for an objective whose
/// error is not known.
[[nodiscard]] std::vector<double> next_launch_half_widths(const ConfigurationRuns& runs,
                                                          const std::vector<double>& values,
                                                          const LaunchVariation& variation,
                                                          const PlannedRun& plan);

/// Seconds of steady training that the runs were measured for.
[[nodiscard]] double measured_s(const ConfigurationRuns& runs);

/// What a step of the trial was taken to be, for people: `as the program counts them, 256 a step`.
/// Says so where the program's count and `planned_run.batch_size` differ, as they do where it
/// counts micro-batches or one of several ranks. Empty where it is not known.
[[nodiscard]] std::string samples_counted(const StudySpec& study, const TrialRecord& trial);

/// Sets the payback's interval from that of the speed-up: the baseline's share that it saves.
void set_payback_interval(Recommendation& recommendation);

}  // namespace steptune
