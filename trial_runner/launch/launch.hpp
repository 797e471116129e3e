// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// Launcher of a distributed program's processes, in the order of `k_launcher_names`.
enum class Launcher {
  torchrun,  ///< PyTorch's launcher; runs once on each node and starts the node's processes
  mpi,       ///< `mpirun`
  srun,      ///< Slurm's launcher; starts the command once for each process
};
/// Names in study files.
inline constexpr std::string_view k_launcher_names[] = {"torchrun", "mpi", "srun"};
[[nodiscard]] constexpr std::string_view to_text(Launcher launcher) {
  return k_launcher_names[static_cast<int>(launcher)];
}

/// The processes of one trial's program.
struct Launch {
  Launcher with = Launcher::torchrun;
  int nodes = 1;
  int processes_per_node = 1;
  std::vector<std::string> options{};  ///< further options of the launcher
  [[nodiscard]] int processes() const { return nodes * processes_per_node; }
  auto operator<=>(const Launch&) const = default;
};

/// A launcher that a kind of runner supports.
struct LauncherSupport {
  Launcher with = Launcher::torchrun;
  bool over_nodes = false;  ///< true: can start processes on several nodes
  /// Options of torchrun that name the rendezvous, where its processes on all nodes meet. Empty:
  /// the runner sets variables on each node instead.
  std::vector<std::string> rendezvous{};
};

}  // namespace steptune
