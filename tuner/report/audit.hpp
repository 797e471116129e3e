// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/json_record.hpp"
#include "common/machine/description.hpp"
#include "tuner/report/stored_study.hpp"

namespace steptune {

/// Value of `TrialRecord::origin` for a trial that another program made.
inline constexpr const char* k_import_origin = "import";

/// One condition that a configuration should meet before somebody trains with it.
struct AuditResult {
  std::string check;  ///< `complete`, `feasible`, `not_dominated`, ...; scripts read these names,
                      ///< so they must not change
  std::optional<bool> holds;  ///< nullopt: unknown
  std::string why{};          ///< for people: why it does not hold or is unknown
};
template <>
const JsonRecord<AuditResult>& json_record<AuditResult>();

/// Checks a trial before it is recommended to a user. Always returns these five results in this
/// order:
/// - `complete`: its configuration has a value for every active parameter, within the search space.
/// - `feasible`: the trial completed within all limits.
/// - `not_dominated`: no trial is better in one objective and not worse in any, beyond their
///   intervals. Unknown if the baseline is recommended because fresh runs have not shown a better
///   trial.
/// - `above_noise`: fresh runs confirmed its configuration, or it is the baseline.
/// - `measured_here`: its trials ran with the CPU, memory, GPU and GPU driver of `here`, and none
///   was imported. Unknown if trials run elsewhere or are replayed.
///
/// `recommendation` is that of `study`. It may recommend another trial. Errors come from the
/// history.
[[nodiscard]] Result<std::vector<AuditResult>> audit(
    const StoredStudy& study, const StudySpec& spec, const TrialRecord& trial,
    const std::optional<Recommendation>& recommendation, const MachineDescription& here);

/// Returns one line for each condition that does not hold.
[[nodiscard]] std::vector<std::string> audit_warnings(const std::vector<AuditResult>& results);

}  // namespace steptune
