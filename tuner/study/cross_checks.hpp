// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/document/fault.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

using document::Faults;

/// Faults that no section shows by itself: parameters that nothing uses, costs without a price,
/// waiting that is weighed with nothing, payback without a planned run, trials longer than their
/// limit, conditional arguments that take others with them, configuration files that no trial
/// reads, batch sizes that are not positive in one of `examples`.
void cross_check(const StudySpec& study, const std::vector<Configuration>& examples,
                 Faults& faults);

/// Faults of a study that is right otherwise, its runner's settings complete: costs and cost limits
/// where every one of `examples` costs nothing.
void check_prices(const StudySpec& study, const std::vector<Configuration>& examples,
                  Faults& faults);

}  // namespace steptune::study
