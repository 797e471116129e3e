// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/document/reading.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

/// Adds what is wrong with `launch` for some of the examples, each fault once.
void check_launch(const StudySpec& study, const std::vector<Configuration>& examples,
                  document::Faults& faults);

}  // namespace steptune::study
