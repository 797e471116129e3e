// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/interval.hpp"
#include "common/json.hpp"
#include "tuner/report/objective_view.hpp"

namespace steptune {

/// Returns how many times as good `other` is as `reference` in an objective. The ratio is above 1
/// if `other` is better, and NaN if a ratio has no meaning. The interval follows from the trials'
/// own intervals (delta method on logarithms). The interval does not include the variation between
/// launches, because only confirming runs measure it.
[[nodiscard]] Estimate ratio_between(const ObjectiveView& view, const TrialRecord& reference,
                                     const TrialRecord& other, std::size_t objective);

/// Returns trials side by side, one column each. The first trial is the reference for all others.
/// The rows are the parameters that differ, the objectives, and the shares of time. Trials that do
/// not fit into `width` columns (0: no limit) follow in further tables. Each of these repeats the
/// first trial. Ends with a newline.
[[nodiscard]] std::string comparison_text(const std::vector<TrialRecord>& trials,
                                          const std::vector<ObjectiveView>& objectives,
                                          const std::vector<std::string>& parameter_order,
                                          std::size_t width = 0);
[[nodiscard]] Json comparison_json(const std::vector<TrialRecord>& trials,
                                   const std::vector<ObjectiveView>& objectives,
                                   const std::vector<std::string>& parameter_order);

}  // namespace steptune
