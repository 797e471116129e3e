// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "common/machine/description.hpp"
#include "tuner/report/stored_study.hpp"

namespace steptune {

/// `TrialRecord::origin` of a trial that another program made.
inline constexpr const char* k_import_origin = "import";

/// One of the things that must hold of a configuration before somebody trains with it.
struct AuditResult {
  std::string check;          ///< `complete`, `feasible`, `not_dominated`, ... Persistent names.
  std::optional<bool> holds;  ///< nothing: not known
  std::string why{};          ///< for people; where it does not hold, or is not known
};

/// Checks a trial before it is handed out, always these five in this order: `complete` (a value for
/// every active parameter, in the search space), `feasible` (completed within all limits),
/// `not_dominated` (no trial is better in one objective and not worse in any, by their intervals;
/// not known where the baseline is recommended since fresh runs have not shown so),
/// `above_noise` (confirmed by fresh runs, or the baseline itself), `measured_here` (CPU, memory
/// and GPU of its trials are those of `here`, and none was imported; not known where trials run
/// elsewhere or are replayed). `recommendation`: nothing if the trial is not the recommended one.
/// Errors are the history's.
[[nodiscard]] Result<std::vector<AuditResult>> audit(
    const StoredStudy& study, const StudySpec& spec, const TrialRecord& trial,
    const std::optional<Recommendation>& recommendation, const MachineDescription& here);

/// One line for each check that does not hold.
[[nodiscard]] std::vector<std::string> audit_warnings(const std::vector<AuditResult>& results);
[[nodiscard]] Json audit_json(const std::vector<AuditResult>& results);

}  // namespace steptune
