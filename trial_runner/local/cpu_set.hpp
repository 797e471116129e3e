// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace steptune::local {

/// Sorts CPUs so that threads of one core, cores of one cache, and caches of one NUMA node are next
/// to each other. Each trial then gets consecutive CPUs of this list.
[[nodiscard]] std::vector<int> in_topology_order(const std::vector<int>& cpus);

/// Binds the calling thread to CPUs during its lifetime. Processes started meanwhile inherit the
/// binding.
class AffinityScope {
 public:
  /// If `cpus` is empty, changes nothing.
  explicit AffinityScope(const std::vector<int>& cpus);
  AffinityScope(const AffinityScope&) = delete;
  AffinityScope& operator=(const AffinityScope&) = delete;
  ~AffinityScope();

  /// Returns 0, or the error number if the system refused the binding.
  [[nodiscard]] int error() const { return error_; }

 private:
  std::vector<int> before_;
  int error_ = 0;
};

}  // namespace steptune::local
