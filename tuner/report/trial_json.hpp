// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/json.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/report/trial_text.hpp"

namespace steptune {

/// Version of every JSON document that the program prints; grows when a field changes its meaning
/// or goes, not when one is added.
inline constexpr int k_json_schema_version = 1;

/// Everything about one trial: SI units named in the keys, ISO 8601 UTC times, null where unknown.
[[nodiscard]] Json trial_json(const TrialRecord& trial,
                              const std::vector<ObjectiveView>& objectives);

/// What is known of a trial beside its record; null where the history does not tell.
[[nodiscard]] Json details_json(const TrialDetails& details);

/// Name, status, seed, times of a study, and the unit of its samples; not its document.
[[nodiscard]] Json study_json(const StudyRecord& study);

/// `[{"metric": "time", "direction": "minimize", "unit": "s"}]`
[[nodiscard]] Json objectives_json(const std::vector<ObjectiveView>& objectives);

}  // namespace steptune
