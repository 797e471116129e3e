// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace steptune {

/// Defaults of `--time` in seconds. `bisect` makes several comparisons in its time.
inline constexpr double k_judge_time_s = 300.0;
inline constexpr double k_bisect_time_s = 1800.0;

/// Word that separates two commands on the command line.
inline constexpr const char* k_next_command = "---";

/// Returns `A` for the first command, `B` for the second.
[[nodiscard]] inline std::string judged_name(std::size_t index) {
  return std::string(1, static_cast<char>('A' + static_cast<int>(index)));
}

}  // namespace steptune
