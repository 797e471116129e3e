// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <vector>

namespace steptune {

/// Equal instances of a heterogeneous cluster.
struct InstanceGroup {
  std::string name{};
  std::string instance_type{};
  int instance_count = 1;
  auto operator<=>(const InstanceGroup&) const = default;
};

/// The machines on which a trial runs: a type and a count, or groups of machines. If neither a type
/// nor a group is set, the trial runs on the tuner's own machine.
struct Resources {
  std::string instance_type{};
  int instance_count = 1;
  std::vector<InstanceGroup> groups{};  ///< if not empty, the cluster is heterogeneous, and
                                        ///< `instance_type` and `instance_count` are unused

  [[nodiscard]] bool heterogeneous() const { return !groups.empty(); }
  auto operator<=>(const Resources&) const = default;
};

/// Formats `1 ml.g5.xlarge`, `1 ml.p4d.24xlarge + 2 ml.c5.18xlarge`.
[[nodiscard]] std::string to_text(const Resources& resources);

/// Returns the number of machines, over all groups.
[[nodiscard]] int machine_count(const Resources& resources);

}  // namespace steptune
