// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/error.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/request_backoff.hpp"
#include "trial_runner/slurm/slurm_options.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// Returns sbatch and its options for an allocation on nodes other than `avoided`. sbatch reads the
/// script from standard input.
[[nodiscard]] std::vector<std::string> submit_words(const AllocationSpec& requested,
                                                    const SlurmOptions& options,
                                                    const std::string& name,
                                                    const std::string& avoided = {});

/// Reads sbatch's result: the job's id, or the setback. After a refusal (`full`, `refused`), or if
/// sbatch cannot be started (`refused`), there is no job. After any other failure (`unclear`), the
/// job may exist.
[[nodiscard]] tl::expected<std::string, Setback> read_submission(const CommandResult& result);

/// True if a failed command may succeed when it is repeated unchanged: the controller did not
/// answer, or accepts no more jobs for now.
[[nodiscard]] bool may_pass(const CommandResult& result);

/// Returns, for people, the last line that a command has printed, with the error lines directly
/// before it. If the command has printed nothing, says how it ended.
[[nodiscard]] std::string last_words(const CommandResult& result);

}  // namespace steptune::slurm
