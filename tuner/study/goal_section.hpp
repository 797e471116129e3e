// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/study/node.hpp"
#include "tuner/study/parameter_section.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

/// What the study is after: objectives, limits on the winner, and the run that follows.
[[nodiscard]] std::vector<Objective> read_objectives(const Node& node);
[[nodiscard]] std::vector<Guard> read_guards(const Node& node);
[[nodiscard]] PlannedRun read_planned_run(const Node& node, const ParameterSection& parameters,
                                          const Facts& facts);

}  // namespace steptune::study
