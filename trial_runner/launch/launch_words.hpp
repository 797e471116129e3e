// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trial_runner/launch/launch.hpp"

namespace steptune {

/// Null where none of `supported` is by `launcher`.
[[nodiscard]] const LauncherSupport* find_launcher(std::span<const LauncherSupport> supported,
                                                   Launcher launcher);

/// As a runner starts it that has srun: MPI's processes, too, by srun, where its plugin for PMIx
/// tells them their ranks.
[[nodiscard]] Launch as_started(Launch launch, std::span<const LauncherSupport> supported);

/// `command` as a runner starts it on each machine (or, by srun, as each process) of a launch.
/// torchrun is that of the command's own Python; another program is left to the `torchrun` in PATH.
/// `command` is not empty.
[[nodiscard]] std::vector<std::string> launched_words(const Launch& launch,
                                                      const LauncherSupport& support,
                                                      std::vector<std::string> command);

/// What a person types to start the same: `launched` words, with srun where the runner calls it.
[[nodiscard]] std::vector<std::string> typed_words(const Launch& launch,
                                                   std::vector<std::string> launched);

/// What is wrong with a launch on a runner's machines: the key, and why.
struct LaunchFault {
  std::string key;  ///< below `launch`; empty: the whole
  std::string message;
};
/// `machines`: that a trial has, 1 where it rents none. `runner`: the kind's name, for messages.
[[nodiscard]] std::optional<LaunchFault> fault_of(const Launch& launch, int machines,
                                                  std::span<const LauncherSupport> supported,
                                                  const std::string& runner);

}  // namespace steptune
