// SPDX-License-Identifier: Apache-2.0
#include "common/machine/cpus.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <system_error>

#include <sched.h>

namespace steptune {

Result<std::vector<int>> allowed_cpus() {
  // The call fails where the set is smaller than the kernel's, and glibc's fixed one holds 1024.
  std::array<cpu_set_t, 64> mask;
  if (::sched_getaffinity(0, sizeof mask, mask.data()) != 0) {
    return fail(ErrorKind::runner, "cannot read which CPUs this process may use: " +
                                       std::generic_category().message(errno));
  }
  std::vector<int> cpus;
  for (std::size_t cpu = 0; cpu < mask.size() * CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET_S(cpu, sizeof mask, mask.data())) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

int usable_cpus(int allowed, std::optional<double> quota) {
  const double limit = std::min<double>(allowed, std::floor(quota.value_or(allowed)));
  return static_cast<int>(std::max(limit, 1.0));
}

}  // namespace steptune
