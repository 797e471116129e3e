// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "trial_runner/runner_kind.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

/// All configurations of a small space, some of a large one; the baseline is the first.
[[nodiscard]] std::vector<Configuration> example_configurations(const StudySpec& study);

/// The study as its runner's section is checked against it; `study` and `examples` outlive it.
[[nodiscard]] StudyView view_of(const StudySpec& study, std::span<const Configuration> examples);

}  // namespace steptune::study
