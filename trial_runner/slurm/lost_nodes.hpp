// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace steptune::slurm {

/// The node that a line of srun's own says it has lost, in sbatch's form: `n2`.
[[nodiscard]] std::optional<std::string> lost_node_in(std::string_view line);

/// Nodes that were lost a while ago. The controller takes a dead one out of service, but not at
/// once, and one that comes back may fail again. Times are those of the runner's clock.
class LostNodes {
 public:
  void add(const std::string& node, double now_s) { lost_s_[node] = now_s; }
  /// For sbatch's `--exclude`: those of the last hour, separated by commas.
  [[nodiscard]] std::string to_avoid(double now_s) const;
  void clear() { lost_s_.clear(); }

 private:
  std::map<std::string, double> lost_s_;
};

}  // namespace steptune::slurm
