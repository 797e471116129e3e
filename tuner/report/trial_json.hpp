// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/json_record.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/report/trial_text.hpp"

namespace steptune {

/// Version of every JSON document that the program prints. Increases if a field changes its meaning
/// or is removed, but not if one is added.
inline constexpr int k_json_schema_version = 1;
/// Returns a document that `--json` prints: its version, then `members`.
[[nodiscard]] Json document_json(const Json& members = Json::object());

template <>
const JsonRecord<TrialRecord>& json_record<TrialRecord>();
template <>
const JsonRecord<AttemptRecord>& json_record<AttemptRecord>();
/// Fields of a study without its document.
template <>
const JsonRecord<StudyRecord>& json_record<StudyRecord>();

/// Returns everything about one trial: keys name SI units, times are ISO 8601 UTC, unknown is null.
[[nodiscard]] Json trial_json(const TrialRecord& trial,
                              const std::vector<ObjectiveView>& objectives);

/// Returns the details that a trial's record does not have; null if the history has none.
[[nodiscard]] Json details_json(const TrialDetails& details);

/// Returns `[{"metric": "time", "direction": "minimize", "unit": "s"}]`.
[[nodiscard]] Json objectives_json(const std::vector<ObjectiveView>& objectives);

}  // namespace steptune
