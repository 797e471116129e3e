// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trial_runner/launch/launch.hpp"

namespace steptune {

/// Returns null if `launcher` is not in `supported`.
[[nodiscard]] const LauncherSupport* find_launcher(std::span<const LauncherSupport> supported,
                                                   Launcher launcher);

/// Returns the launch as a runner with srun starts it: srun also starts MPI's processes if its PMIx
/// plugin can tell them their ranks.
[[nodiscard]] Launch as_started(Launch launch, std::span<const LauncherSupport> supported);

/// Returns the words that a runner starts on each machine of a launch (with srun, as each process).
/// Uses the torchrun of the command's own Python; for other programs, the `torchrun` in PATH.
/// `command` must not be empty.
[[nodiscard]] std::vector<std::string> launched_words(const Launch& launch,
                                                      const LauncherSupport& support,
                                                      std::vector<std::string> command);

/// Returns the command that a person types for the same start: the `launched` words, after srun if
/// the runner calls it.
[[nodiscard]] std::vector<std::string> typed_words(const Launch& launch,
                                                   std::vector<std::string> launched);

/// A fault of a launch on a runner's machines: its key and the reason.
struct LaunchFault {
  std::string key;  ///< below `launch`; empty: the whole launch
  std::string message;
};
/// Returns the fault of a launch; nullopt if there is none. `machines` is the number that a trial
/// rents, 1 if it rents none. `runner` is the kind's name, for messages.
[[nodiscard]] std::optional<LaunchFault> fault_of(const Launch& launch, int machines,
                                                  std::span<const LauncherSupport> supported,
                                                  const std::string& runner);

}  // namespace steptune
