// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/machine/system_files.hpp"

namespace steptune {

/// What /proc/meminfo says of the whole machine; a figure that is missing is nothing.
struct MemoryInfo {
  std::optional<double> total_bytes;
  std::optional<double> available_bytes;
  std::optional<double> swapped_bytes;
};
[[nodiscard]] MemoryInfo read_memory_info(const SystemFiles& files);

/// The memory that this process may use: the machine's, or the limit of its control groups where
/// that is less. 0 where the machine's is unknown.
[[nodiscard]] double usable_memory_bytes(const SystemFiles& files);

}  // namespace steptune
