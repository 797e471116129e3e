// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/error.hpp"
#include "common/machine/processes.hpp"
#include "common/unique_fd.hpp"
#include "trial_runner/local/spawn.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// The main process of a trial that runs.
struct TrialProcess {
  ProcessId main;
  UniqueFd pidfd;   ///< empty where the kernel has none
  UniqueFd output;  ///< read end of stdout and stderr, non-blocking
};

/// A trial's output: the trial writes, this program reads without blocking.
struct OutputPipe {
  UniqueFd read;
  UniqueFd write;
};
/// Errors (`unavailable`): too many files are open.
[[nodiscard]] Result<OutputPipe> make_output_pipe();

/// A child of this process as a trial's. Should the kernel run out of memory, it takes the trial
/// rather than this program.
[[nodiscard]] TrialProcess trial_process_of(pid_t child, UniqueFd output);

/// Starts a trial's main process, bound to `cpus` (none: not bound), with `environment` as all of
/// its environment and its output in a pipe or a pseudo-terminal. Errors as `spawn`,
/// `make_output_pipe` and `open_pseudo_terminal`; `runner`: its standard input cannot be opened;
/// `unavailable`: the CPUs are not to be had.
[[nodiscard]] Result<TrialProcess> start_trial_process(const TrialSpec& spec,
                                                       const std::vector<int>& cpus,
                                                       Environment environment);

}  // namespace steptune::local
