// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "common/machine/description.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Whether a name of a machine's description tells of Python or of what is installed for it.
[[nodiscard]] bool is_of_python(std::string_view name);

/// Whether the description tells versions of Python's at all: one that does not says nothing of
/// their being there.
[[nodiscard]] bool knows_libraries(const MachineDescription& machine);

/// What a trial told of the machine that it ran on: by a hook the versions of libraries (`torch`,
/// `cuda`, `cudnn`, `python`), and from a cluster's nodes `hosts`, `cpu` and `kernel`.
[[nodiscard]] MachineDescription machine_told_by(const TrialRecord& trial);

/// Adds that of each baseline to the machine of the session, of those in order, in which it was
/// launched. What a session tells itself stays.
void add_what_baselines_tell(std::vector<SessionRecord>& sessions,
                             const std::vector<TrialRecord>& trials);

}  // namespace steptune
