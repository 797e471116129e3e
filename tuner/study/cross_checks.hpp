// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/document/fault.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

using document::Faults;

/// Adds faults that concern several sections, for example:
/// - parameters that nothing uses;
/// - costs without a price, and a price of waiting without effect;
/// - payback without a planned run;
/// - trials longer than their limit;
/// - conditional arguments that would remove other arguments;
/// - configuration files that no trial reads;
/// - batch sizes that are not positive in one of `examples`.
void cross_check(const StudySpec& study, const std::vector<Configuration>& examples,
                 Faults& faults);

/// Adds faults about prices: costs and cost limits although each of `examples` costs nothing. The
/// study has no other faults, and its runner's settings are complete.
void check_prices(const StudySpec& study, const std::vector<Configuration>& examples,
                  Faults& faults);

/// Adds the faults of `launch` for the examples, each fault once.
void check_launch(const StudySpec& study, const std::vector<Configuration>& examples,
                  Faults& faults);

}  // namespace steptune::study
