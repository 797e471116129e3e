// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/diagnosis.hpp"
#include "trial_runner/held_machines.hpp"
#include "trial_runner/slurm/need.hpp"
#include "trial_runner/slurm/slurm_options.hpp"

/// What commands other than `run` ask of the cluster. They wait for its answers.
namespace steptune::slurm {

/// What `sbatch --test-only` says of a need, for people.
struct TestedSubmission {
  std::string text;      ///< when it would start, or why never
  bool refused = false;  ///< as it is asked for, now and later
};
/// Of each need. Nothing is submitted. Where the cluster cannot be asked, the last one tells why.
[[nodiscard]] std::vector<TestedSubmission> test_submissions(const std::vector<Need>& needs,
                                                             const SlurmOptions& options);

/// Why srun does not start processes with `option`, as `--mpi=pmix`; nothing where it does, and
/// where it cannot be asked.
[[nodiscard]] std::optional<std::string> fault_of_mpi(const std::string& option);

/// This user's allocations, idle or with a trial's step. Prices are the study's affair: not known.
[[nodiscard]] const HeldMachinesService& cluster_allocations();

/// Versions, controller, partitions, accounting. Nothing where Slurm is not installed.
[[nodiscard]] std::vector<Diagnosis> diagnose_cluster();

}  // namespace steptune::slurm
