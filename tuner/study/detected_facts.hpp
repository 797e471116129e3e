// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/machine/system_files.hpp"
#include "search/space/expression.hpp"

namespace steptune::study {

/// Returns the facts `cpus`, `gpus` and `memory_gb` of a machine for a process that may use
/// `allowed_cpus` CPUs. `variables`: its environment, which may hide GPUs.
[[nodiscard]] Facts facts_of(const SystemFiles& files, int allowed_cpus,
                             const std::map<std::string, std::string>& variables);

}  // namespace steptune::study
