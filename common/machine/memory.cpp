// SPDX-License-Identifier: Apache-2.0
#include "common/machine/memory.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include "common/machine/cgroup.hpp"
#include "common/text.hpp"

namespace steptune {

MemoryInfo read_memory_info(const SystemFiles& files) {
  MemoryInfo info;
  std::optional<double> swap_total;
  std::optional<double> swap_free;
  // A line is `NAME:   NUMBER kB`.
  std::istringstream lines(files.text("proc/meminfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    std::string number;
    fields >> name >> number;
    const auto kib = parse_finite(number);
    if (!kib) continue;
    const double bytes = 1024.0 * *kib;
    if (name == "MemTotal:") info.total_bytes = bytes;
    if (name == "MemAvailable:") info.available_bytes = bytes;
    if (name == "SwapTotal:") swap_total = bytes;
    if (name == "SwapFree:") swap_free = bytes;
  }
  if (swap_total && swap_free) info.swapped_bytes = *swap_total - *swap_free;
  return info;
}

double usable_memory_bytes(const SystemFiles& files) {
  const double total = read_memory_info(files).total_bytes.value_or(0.0);
  return std::min(total, cgroup_memory_limit_bytes(files).value_or(total));
}

}  // namespace steptune
