// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/configuration.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune {

/// Returns the mean of the logarithms; NaN if there are none.
[[nodiscard]] double mean_log(const std::vector<double>& logs);

/// Returns natural logarithms of the first objective for the measured launches of the baseline.
/// Leaves out launches that other programs disturbed much (`without_disturbed`).
[[nodiscard]] std::vector<double> baseline_times(const std::vector<TrialRecord>& trials);

/// Returns the same logarithms for a configuration's search trials and confirming runs.
/// `fresh_only`: only the confirming runs, which were not selected for their speed.
[[nodiscard]] std::vector<double> times_of(const std::vector<TrialRecord>& trials,
                                           const Configuration& configuration, bool fresh_only);

/// Returns the confirming runs of `challenger` and of `incumbent`, paired by round. Either may be
/// the baseline. If a round has several runs of one configuration, takes the least disturbed run.
/// The result points into `trials`.
[[nodiscard]] std::vector<RunPair> rounds_of(const StudySpec& study,
                                             const std::vector<TrialRecord>& trials,
                                             const Configuration& challenger,
                                             const Configuration& incumbent);

}  // namespace steptune
