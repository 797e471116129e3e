// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/machine/system_files.hpp"

namespace steptune {

/// What of a machine decides how fast programs run on it, and may change without anybody's
/// noticing, as texts by name: for records and for telling what changed. Persistent names: `cpu`,
/// `cpus` (usable by this process), `memory` (the same, GiB), `gpu`, `gpu_driver`, `kernel`,
/// `operating_system`, `c_library`, `container`, `hypervisor`, `cpu_governor`. What the system does
/// not tell is absent.
using MachineDescription = std::map<std::string, std::string>;

/// In place of all these where trials run on other machines than the one that describes itself:
/// which ones they asked for, such as `1 ml.g5.xlarge`. What their systems tell comes from trials.
inline constexpr const char* k_trials_on = "trials_on";

/// Of this machine. Takes about a millisecond and starts no program.
[[nodiscard]] MachineDescription describe_machine(const SystemFiles& files);

}  // namespace steptune
