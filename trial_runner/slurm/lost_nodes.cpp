// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/lost_nodes.hpp"

#include <algorithm>

#include "common/units.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/step_outcome.hpp"

namespace steptune::slurm {

std::optional<std::string> lost_node_in(std::string_view line) {
  if (!reports_lost_node(line)) return std::nullopt;
  // Forms: `Node failure on n2`, `Task launch for StepId=7.0 failed on node n2: Communication ...`
  for (const std::string_view before : {" failed on node ", "Node failure on "}) {
    const std::size_t found = line.find(before);
    if (found == std::string_view::npos) continue;
    line.remove_prefix(found + before.size());
    const std::string_view node = line.substr(0, line.find_first_of(": \r"));
    if (is_option_value(node)) return std::string(node);
  }
  return std::nullopt;
}

std::string LostNodes::to_avoid(double now_s) const {
  std::string nodes;
  for (const auto& [node, lost_s] : lost_s_) {
    if (now_s - lost_s > k_hour_s) continue;
    if (!nodes.empty()) nodes += ',';
    nodes += node;
  }
  return nodes;
}

}  // namespace steptune::slurm
