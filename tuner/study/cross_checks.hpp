// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/document/fault.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

using document::Faults;

/// Faults that no section shows by itself: parameters that nothing uses, costs without a price,
/// payback without a planned run, trials longer than their limit, conditional arguments that take
/// others with them, batch sizes and modelled times that are not positive.
void cross_check(const StudySpec& study, Faults& faults);

}  // namespace steptune::study
