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

/// The rented machines that a trial runs on: a type and a count, or groups of them. No type and no
/// groups: the machine that the tuner runs on.
struct Resources {
  std::string instance_type{};
  int instance_count = 1;
  std::vector<InstanceGroup> groups{};  ///< not empty: heterogeneous, and type and count are unused

  [[nodiscard]] bool heterogeneous() const { return !groups.empty(); }
  auto operator<=>(const Resources&) const = default;
};

/// `1 ml.g5.xlarge`, `1 ml.p4d.24xlarge + 2 ml.c5.18xlarge`.
[[nodiscard]] std::string to_text(const Resources& resources);

/// Of all groups together.
[[nodiscard]] int machine_count(const Resources& resources);

}  // namespace steptune
