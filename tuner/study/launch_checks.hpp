// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/document/reading.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

/// Adds the faults of `launch` for the examples, each fault once.
void check_launch(const StudySpec& study, const std::vector<Configuration>& examples,
                  document::Faults& faults);

}  // namespace steptune::study
