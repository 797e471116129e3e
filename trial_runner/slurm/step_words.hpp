// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/allocations.hpp"
#include "trial_runner/slurm/need.hpp"
#include "trial_runner/slurm/slurm_options.hpp"

namespace steptune::slurm {

/// Tasks that srun starts of a trial on each of its nodes; torchrun, as one, starts a node's
/// processes itself.
[[nodiscard]] int tasks_per_node(const TrialSpec& spec, const SlurmOptions& options);

/// srun and its options for a trial's step of this name in an allocation that runs; the program's
/// own words follow.
[[nodiscard]] std::vector<std::string> step_words(const TrialSpec& spec, const Need& need,
                                                  const SlurmOptions& options,
                                                  const Allocation& allocation,
                                                  const std::string& name);

}  // namespace steptune::slurm
