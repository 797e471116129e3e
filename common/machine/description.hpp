// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/machine/system_files.hpp"

namespace steptune {

/// Properties of a machine that decide how fast programs run, as texts by name. They may change
/// between two studies without the user's notice. The history stores them, so the names are
/// permanent: `cpu`, `cpus` and `memory` (usable by this process; memory in GiB), `gpu`,
/// `gpu_driver`, `kernel`, `operating_system`, `c_library`, `container`, `hypervisor`,
/// `cpu_governor`. Unknown properties are absent.
using MachineDescription = std::map<std::string, std::string>;

/// The only property that this machine records if trials run on other machines. Its value names the
/// requested machines, such as `1 ml.g5.xlarge`. Trials report the other properties.
inline constexpr const char* k_trials_on = "trials_on";

/// Describes this machine. Takes about a millisecond and starts no program.
[[nodiscard]] MachineDescription describe_machine(const SystemFiles& files);

}  // namespace steptune
