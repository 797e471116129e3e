// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/report/objective_view.hpp"

namespace steptune {

/// Everything about one trial, a line per fact; ends with a newline. `baseline` is null where it
/// has not been measured.
[[nodiscard]] std::string trial_text(const TrialRecord& trial, const TrialRecord* baseline,
                                     const std::vector<ObjectiveView>& objectives,
                                     const std::vector<std::string>& parameter_order);

}  // namespace steptune
