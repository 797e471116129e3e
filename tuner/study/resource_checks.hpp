// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/document/fault.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

using document::Faults;

/// Every set of instances that a configuration of the space can ask for, each once; nothing if more
/// than 512 combinations of values decide it.
[[nodiscard]] std::optional<std::vector<Resources>> resource_choices(const StudySpec& study);

/// Gives every instance type that a configuration can ask for its price: the study's own, else the
/// price table's. Faults: templates and counts that yield no instances somewhere in the space, and
/// types without a price. Counts that more than 512 combinations decide are left to the trials.
void resolve_prices(StudySpec& study, Faults& faults);

/// What SageMaker would refuse about the jobs of a study, as far as the baseline, every set of
/// instances and `configurations` show it, at its place in the study file.
void check_training_jobs(const StudySpec& study, const std::vector<Configuration>& configurations,
                         Faults& faults);

}  // namespace steptune::study
