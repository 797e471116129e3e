// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/cpu_set.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include <hwloc.h>

#include "common/machine/cpus.hpp"

namespace steptune::local {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};

}  // namespace

std::vector<int> in_topology_order(const std::vector<int>& cpus) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return cpus;
  const std::unique_ptr<hwloc_topology, DestroyTopology> topology(raw);
  if (hwloc_topology_load(raw) != 0) return cpus;
  std::vector<int> ordered;
  // hwloc's logical order is the order of the topology tree's leaves.
  for (hwloc_obj_t unit = nullptr;
       (unit = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_PU, unit)) != nullptr;) {
    const int cpu = static_cast<int>(unit->os_index);
    if (std::ranges::binary_search(cpus, cpu)) ordered.push_back(cpu);
  }
  return ordered.size() == cpus.size() ? ordered : cpus;
}

AffinityScope::AffinityScope(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  auto before = allowed_cpus();
  if (!before) {
    error_ = EINVAL;
    return;
  }
  // Setting the affinity may move the thread to another CPU, so skip it if nothing would change.
  std::vector<int> wanted = cpus;
  std::ranges::sort(wanted);
  if (wanted == *before) return;
  error_ = bind_calling_thread(wanted);
  if (error_ == 0) before_ = *std::move(before);
}

AffinityScope::~AffinityScope() {
  if (!before_.empty()) static_cast<void>(bind_calling_thread(before_));
}

}  // namespace steptune::local
