// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace steptune::slurm {

/// Returns the node that an error line of srun reports as lost, in sbatch's form: `n2`.
[[nodiscard]] std::optional<std::string> lost_node_in(std::string_view line);

/// Nodes that were lost recently, so that new allocations avoid them. The controller takes a dead
/// node out of service only after a while, and a node that returns may fail again. Times are on the
/// runner's clock.
class LostNodes {
 public:
  void add(const std::string& node, double now_s) { lost_s_[node] = now_s; }
  /// Returns the nodes lost during the last hour, separated by commas, for sbatch's `--exclude`.
  [[nodiscard]] std::string to_avoid(double now_s) const;
  void clear() { lost_s_.clear(); }

 private:
  std::map<std::string, double> lost_s_;
};

}  // namespace steptune::slurm
