// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/cpu_set.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>

#include "common/machine/cpus.hpp"

namespace steptune::local {
namespace {

/// More CPUs than glibc's fixed set has.
using CpuMask = std::array<cpu_set_t, 8>;

int set_affinity(const std::vector<int>& cpus) {
  CpuMask mask;
  CPU_ZERO_S(sizeof mask, mask.data());
  for (const int cpu : cpus)
    CPU_SET_S(static_cast<std::size_t>(cpu), sizeof mask, mask.data());
  return ::sched_setaffinity(0, sizeof mask, mask.data()) == 0 ? 0 : errno;
}

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
  // Logical order is the order of the tree's leaves.
  for (hwloc_obj_t unit = nullptr;
       (unit = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_PU, unit)) != nullptr;) {
    const int cpu = static_cast<int>(unit->os_index);
    if (std::ranges::binary_search(cpus, cpu)) ordered.push_back(cpu);
  }
  return ordered.size() == cpus.size() ? ordered : cpus;
}

std::string format_cpus(std::vector<int> cpus) {
  std::ranges::sort(cpus);
  std::string text;
  for (std::size_t begin = 0; begin < cpus.size();) {
    std::size_t end = begin;
    while (end + 1 < cpus.size() && cpus[end + 1] == cpus[end] + 1)
      ++end;
    if (!text.empty()) text += ',';
    text += begin == end ? fmt::format("{}", cpus[begin])
                         : fmt::format("{}-{}", cpus[begin], cpus[end]);
    begin = end + 1;
  }
  return text;
}

AffinityScope::AffinityScope(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  auto before = allowed_cpus();
  if (!before) {
    error_ = EINVAL;
    return;
  }
  // Every switch may move the calling thread to another CPU: not where nothing would change.
  std::vector<int> wanted = cpus;
  std::ranges::sort(wanted);
  if (wanted == *before) return;
  error_ = set_affinity(wanted);
  if (error_ == 0) before_ = *std::move(before);
}

AffinityScope::~AffinityScope() {
  if (!before_.empty()) set_affinity(before_);
}

}  // namespace steptune::local
