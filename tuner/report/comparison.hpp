// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "tuner/report/objective_view.hpp"

namespace steptune {

/// How many times better one trial is than another in an objective, with the 95 % interval that
/// follows from the two trials' own intervals (delta method on logarithms). Launches differ by more
/// than a trial can see of itself: only confirmation tells what that amounts to.
struct TrialRatio {
  double ratio = 0.0;  ///< above 1: the other trial is better; NaN where it has no meaning
  double low = 0.0;
  double high = 0.0;
};
[[nodiscard]] TrialRatio ratio_between(const ObjectiveView& view, const TrialRecord& reference,
                                       const TrialRecord& other, std::size_t objective);

/// Trials side by side: a column each, the first one being what the others are compared with; rows
/// for the parameters that differ, the objectives, and where the time went. Trials that do not fit
/// into `width` columns (0: no limit) follow in further tables, the first one beside them again.
/// Ends with a newline.
[[nodiscard]] std::string comparison_text(const std::vector<TrialRecord>& trials,
                                          const std::vector<ObjectiveView>& objectives,
                                          const std::vector<std::string>& parameter_order,
                                          std::size_t width = 0);
[[nodiscard]] Json comparison_json(const std::vector<TrialRecord>& trials,
                                   const std::vector<ObjectiveView>& objectives,
                                   const std::vector<std::string>& parameter_order);

}  // namespace steptune
