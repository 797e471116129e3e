// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/configuration.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune {

/// Natural logarithms of the first objective over the launches of the baseline that were measured,
/// without those that others disturbed much (`without_disturbed`).
[[nodiscard]] std::vector<double> baseline_times(const std::vector<TrialRecord>& trials);

/// The same of a configuration: its trials of the search and its confirming runs. `fresh_only`: the
/// latter alone, which nobody selected for their speed.
[[nodiscard]] std::vector<double> times_of(const std::vector<TrialRecord>& trials,
                                           const Configuration& configuration, bool fresh_only);

/// Confirming runs of `challenger` and of `incumbent`, round by round; either may be the baseline.
/// Of several in a round the one that was disturbed least. Points into `trials`.
[[nodiscard]] std::vector<RunPair> rounds_of(const StudySpec& study,
                                             const std::vector<TrialRecord>& trials,
                                             const Configuration& challenger,
                                             const Configuration& incumbent);

}  // namespace steptune
