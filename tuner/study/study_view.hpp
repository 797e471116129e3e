// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "trial_runner/runner_kind.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

/// Returns all configurations of a small space, or some of a large one. The baseline is the first.
[[nodiscard]] std::vector<Configuration> example_configurations(const StudySpec& study);

/// Returns the view against which the runner's section is checked. `study` and `examples` outlive
/// the view.
[[nodiscard]] StudyView view_of(const StudySpec& study, std::span<const Configuration> examples);

}  // namespace steptune::study
