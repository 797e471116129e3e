// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "tuner/study/node.hpp"
#include "tuner/study/parameter_section.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

/// `runner`. Relative paths are taken from `folder`.
[[nodiscard]] RunnerSpec read_runner(const Node& node, const ParameterSection& parameters,
                                     const Facts& facts, const std::filesystem::path& folder);
void read_limits(const Node& node, RunnerSpec& runner);

/// `reports`: a preset's name, or an object. `samples_per_step` depends on the trial and stays
/// empty.
[[nodiscard]] ReportFormat read_reports(const Node& node);

}  // namespace steptune::study
