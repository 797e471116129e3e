// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "common/machine/description.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// True if the name of a machine's property describes Python or its libraries.
[[nodiscard]] bool is_of_python(std::string_view name);

/// True if the description has versions of Python libraries. False does not mean that no libraries
/// are installed.
[[nodiscard]] bool knows_libraries(const MachineDescription& machine);

/// Returns properties of a trial's machine that the trial reported. A hook reports versions of
/// libraries (`torch`, `cuda`, `cudnn`, `python`). A cluster's nodes report `hosts`, `cpu` and
/// `kernel`.
[[nodiscard]] MachineDescription machine_reported_by(const TrialRecord& trial);

/// Adds each baseline's properties to the machine of the session in which it was launched.
/// `sessions` are in order. Does not change properties that the session already has.
void add_baseline_machines(std::vector<SessionRecord>& sessions,
                           const std::vector<TrialRecord>& trials);

}  // namespace steptune
