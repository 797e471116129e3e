// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/document/node.hpp"
#include "common/machine/system_files.hpp"
#include "search/space/expression.hpp"
#include "trial_runner/runner_kind.hpp"

namespace steptune::study {

/// Returns the facts of a study whose trials run on other machines than the tuner's. Facts that the
/// study states replace `known` facts. If an expression mentions any other fact, adds a fault,
/// because the tuner's machine may differ from the trials' machines.
[[nodiscard]] Facts remote_facts(const document::ObjectNode& root, RemoteMachine known);

/// Returns the facts `cpus`, `gpus` and `memory_gb` of a machine for a process that may use
/// `allowed_cpus` CPUs. `variables`: its environment, which may hide GPUs.
[[nodiscard]] Facts facts_of(const SystemFiles& files, int allowed_cpus,
                             const std::map<std::string, std::string>& variables);

}  // namespace steptune::study
