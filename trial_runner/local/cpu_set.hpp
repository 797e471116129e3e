// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace steptune::local {

/// The same CPUs, neighbours in the machine next to each other: threads of a core, cores of a
/// cache, caches of a NUMA node. So consecutive runs of them make good shares.
[[nodiscard]] std::vector<int> in_topology_order(const std::vector<int>& cpus);

/// Binds the calling thread while it lives, so that processes started meanwhile inherit the
/// binding.
class AffinityScope {
 public:
  /// No CPUs: changes nothing.
  explicit AffinityScope(const std::vector<int>& cpus);
  AffinityScope(const AffinityScope&) = delete;
  AffinityScope& operator=(const AffinityScope&) = delete;
  ~AffinityScope();

  /// 0, or why the binding was refused.
  [[nodiscard]] int error() const { return error_; }

 private:
  std::vector<int> before_;
  int error_ = 0;
};

}  // namespace steptune::local
