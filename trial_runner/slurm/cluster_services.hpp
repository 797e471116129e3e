// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/diagnosis.hpp"
#include "trial_runner/held_machines.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/slurm_options.hpp"

/// Queries to the cluster for the program's commands other than `run`. They block until Slurm
/// answers.
namespace steptune::slurm {

/// Answer of `sbatch --test-only` about one allocation spec, for people.
struct TestedSubmission {
  std::string text;      ///< when the job would start, or why it never will
  bool refused = false;  ///< the request can never be granted
};
/// Tests each allocation spec without submitting a job. If sbatch cannot be used, the last answer
/// says why.
[[nodiscard]] std::vector<TestedSubmission> test_submissions(
    const std::vector<AllocationSpec>& specs, const SlurmOptions& options);

/// Says why srun cannot start processes with `option` (such as `--mpi=pmix`). nullopt if srun can,
/// or if srun cannot be run.
[[nodiscard]] std::optional<std::string> fault_of_mpi(const std::string& option);

/// Returns the service that lists this user's allocations, idle or with a trial's step. The list
/// has no prices, because only the study file states them.
[[nodiscard]] const HeldMachinesService& cluster_allocations();

/// Reports versions, controller, partitions and accounting. Empty if Slurm is not installed.
[[nodiscard]] std::vector<Diagnosis> diagnose_cluster();

}  // namespace steptune::slurm
