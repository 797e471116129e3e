// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trial_runner/slurm/need.hpp"
#include "trial_runner/slurm/slurm_options.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// sbatch and its options for an allocation on other nodes than `avoided`; the script comes from
/// standard input.
[[nodiscard]] std::vector<std::string> submit_words(const Need& need, const SlurmOptions& options,
                                                    const std::string& name,
                                                    const std::string& avoided = {});

/// The last line that a command has printed, with the errors right before it, or how it ended: for
/// people.
[[nodiscard]] std::string last_words(const CommandResult& result);

}  // namespace steptune::slurm
