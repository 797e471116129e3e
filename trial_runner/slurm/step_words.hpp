// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/allocations.hpp"
#include "trial_runner/slurm/slurm_options.hpp"

namespace steptune::slurm {

/// Returns the number of a trial's tasks that srun starts on each node. Returns 1 for torchrun,
/// which starts the node's processes itself.
[[nodiscard]] int tasks_per_node(const TrialSpec& spec, const SlurmOptions& options);

/// Returns the smallest number of `SLURM_JOB_CPUS_PER_NODE`: 32 for `64(x2),32`. nullopt if the
/// text has another form.
[[nodiscard]] std::optional<int> least_cpus(std::string_view cpus_per_node);

/// Returns srun and its options for a trial's step with this name in a running allocation. The
/// caller appends the program's command. `cpus_per_node` is from `SubmitHost::node_cpus`. All tasks
/// get the same number of CPUs, so the node with the fewest decides. If `cpus_per_node` is empty,
/// the nodes count as equal.
[[nodiscard]] std::vector<std::string> step_words(
    const TrialSpec& spec, const AllocationSpec& requested, const SlurmOptions& options,
    const Allocation& allocation, std::string_view cpus_per_node, const std::string& name);

}  // namespace steptune::slurm
