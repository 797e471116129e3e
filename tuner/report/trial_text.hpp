// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/report/objective_view.hpp"

namespace steptune {

/// Everything about one trial, a line per fact; ends with a newline.
[[nodiscard]] std::string trial_text(const TrialRecord& trial,
                                     const std::optional<TrialRecord>& baseline,
                                     const std::vector<ObjectiveView>& objectives,
                                     const std::vector<std::string>& parameter_order);

}  // namespace steptune
