// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/resources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace steptune {

std::string to_text(const Resources& resources) {
  if (!resources.heterogeneous()) {
    return fmt::format("{} {}", resources.instance_count, resources.instance_type);
  }
  std::vector<std::string> groups;
  for (const InstanceGroup& group : resources.groups)
    groups.push_back(fmt::format("{} {}", group.instance_count, group.instance_type));
  return fmt::format("{}", fmt::join(groups, " + "));
}

int machine_count(const Resources& resources) {
  if (!resources.heterogeneous()) return resources.instance_count;
  int count = 0;
  for (const InstanceGroup& group : resources.groups)
    count += group.instance_count;
  return count;
}

}  // namespace steptune
