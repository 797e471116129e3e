// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/machine/system_files.hpp"

namespace steptune {

/// Figures of /proc/meminfo for the whole machine; missing figures are nullopt.
struct MemoryInfo {
  std::optional<double> total_bytes;
  std::optional<double> available_bytes;
  std::optional<double> swapped_bytes;
};
[[nodiscard]] MemoryInfo read_memory_info(const SystemFiles& files);

/// Returns the memory that this process may use: the machine's, or its control groups' limit if
/// that is lower. Returns 0 if the machine's memory is unknown.
[[nodiscard]] double usable_memory_bytes(const SystemFiles& files);

}  // namespace steptune
