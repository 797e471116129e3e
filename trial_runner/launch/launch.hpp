// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// What starts a distributed program's processes. In the order of `k_launcher_names`.
enum class Launcher {
  torchrun,  ///< PyTorch's: once on each node, where it starts the processes
  mpi,       ///< `mpirun`
  srun,      ///< Slurm's: the command itself, once for each process
};
/// As study files write them.
inline constexpr std::string_view k_launcher_names[] = {"torchrun", "mpi", "srun"};
[[nodiscard]] constexpr std::string_view to_text(Launcher launcher) {
  return k_launcher_names[static_cast<int>(launcher)];
}

/// The processes that the program of one trial runs as.
struct Launch {
  Launcher with = Launcher::torchrun;
  int nodes = 1;
  int processes_per_node = 1;
  std::vector<std::string> options{};  ///< further words for the launcher
  [[nodiscard]] int processes() const { return nodes * processes_per_node; }
  auto operator<=>(const Launch&) const = default;
};

/// A launcher that a kind of runner can start processes with.
struct LauncherSupport {
  Launcher with = Launcher::torchrun;
  bool over_nodes = false;  ///< else on one node only
  /// By which torchrun's processes meet; none: variables of the runner's tell each node.
  std::vector<std::string> rendezvous{};
};

}  // namespace steptune
