// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/error.hpp"
#include "common/machine/processes.hpp"
#include "common/pipe.hpp"
#include "common/unique_fd.hpp"
#include "trial_runner/local/spawn.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// The main process of a running trial.
struct TrialProcess {
  ProcessId main;
  UniqueFd pidfd;   ///< empty: the kernel has no pidfds
  UniqueFd output;  ///< read end of stdout and stderr, non-blocking
};

/// Size of the output pipe: large enough that a trial rarely waits for the tuner to read. It is the
/// maximum without privileges.
inline constexpr int k_pipe_bytes = 1 << 20;

/// Makes a pipe for a trial's output. The trial writes; this program reads without blocking. Errors
/// as in `make_pipe`.
[[nodiscard]] Result<Pipe> make_output_pipe();

/// Returns `child`, a child of this process, as a trial's main process. Raises its out-of-memory
/// score: if memory runs out, the kernel kills the trial rather than this program.
[[nodiscard]] TrialProcess trial_process_of(pid_t child, UniqueFd output);

/// Starts a trial's main process, bound to `cpus` (empty: not bound), with exactly `environment`.
/// Its output goes to a pipe or a pseudo-terminal. Passes on errors of `spawn`, `make_output_pipe`
/// and `open_pseudo_terminal`. Other errors: `runner` if the file for its standard input cannot be
/// opened; `unavailable` if the CPUs cannot be used.
[[nodiscard]] Result<TrialProcess> start_trial_process(const TrialSpec& spec,
                                                       const std::vector<int>& cpus,
                                                       Environment environment);

}  // namespace steptune::local
