// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/allocations.hpp"
#include "trial_runner/slurm/slurm_options.hpp"

namespace steptune::slurm {

/// Returns the number of a trial's tasks that srun starts on each node. Returns 1 for torchrun,
/// which starts the node's processes itself.
[[nodiscard]] int tasks_per_node(const TrialSpec& spec, const SlurmOptions& options);

/// Returns srun and its options for a trial's step with this name in a running allocation. The
/// caller appends the program's command.
[[nodiscard]] std::vector<std::string> step_words(const TrialSpec& spec,
                                                  const AllocationSpec& requested,
                                                  const SlurmOptions& options,
                                                  const Allocation& allocation,
                                                  const std::string& name);

}  // namespace steptune::slurm
