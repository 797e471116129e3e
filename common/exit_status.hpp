// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

#include <sys/wait.h>

namespace steptune {

/// Exit statuses of a shell: the command was found but cannot be executed, or was not found
/// (POSIX).
inline constexpr int k_not_executable_status = 126;
inline constexpr int k_not_found_status = 127;
/// If a signal ended the program, a shell's exit status is this plus the signal's number (bash,
/// dash).
inline constexpr int k_signal_status = 128;
inline constexpr int k_sigkill_status = k_signal_status + SIGKILL;
inline constexpr int k_sigterm_status = k_signal_status + SIGTERM;

/// Returns the exit status that a shell reports for a child with this status of `waitpid`.
[[nodiscard]] inline int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? k_signal_status + WTERMSIG(wait_status)
                                  : WEXITSTATUS(wait_status);
}

}  // namespace steptune
