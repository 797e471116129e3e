// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/document/fault.hpp"
#include "trial_runner/launch/launch.hpp"

namespace steptune {

/// Returns the entry of `launcher` in `supported`; null if there is none.
[[nodiscard]] const LauncherSupport* find_launcher(std::span<const LauncherSupport> supported,
                                                   Launcher launcher);

/// Returns the launch that the runner really uses. If the runner supports srun, srun replaces
/// mpirun and starts MPI's processes (`--mpi=pmix`, unless the options choose another plugin).
[[nodiscard]] Launch as_started(Launch launch, std::span<const LauncherSupport> supported);

/// Returns the command line that a runner starts on each machine of a launch. With srun, it is the
/// command line of each process. Uses the torchrun of the command's own Python; for other programs,
/// the `torchrun` in PATH. `command` must not be empty.
[[nodiscard]] std::vector<std::string> launched_words(const Launch& launch,
                                                      const LauncherSupport& support,
                                                      std::vector<std::string> command);

/// Returns the command that a person types for the same launch: `launched` (from `launched_words`),
/// preceded by srun and its options if the launcher is srun.
[[nodiscard]] std::vector<std::string> typed_words(const Launch& launch,
                                                   std::vector<std::string> launched);

/// Returns why a runner's machines cannot carry out a launch; nullopt if they can. The pointer
/// starts at the object `launch`. `machines` is the number of machines that a trial rents; 1 if it
/// rents none. `runner` is the kind's name, for messages.
[[nodiscard]] std::optional<document::Fault> fault_of(const Launch& launch, int machines,
                                                      std::span<const LauncherSupport> supported,
                                                      const std::string& runner);

}  // namespace steptune
