// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"

namespace steptune {

/// Returns the CPUs that the calling thread may run on (affinity within its cgroup's cpuset),
/// ascending.
[[nodiscard]] Result<std::vector<int>> allowed_cpus();

/// Binds the calling thread, and threads and processes that it starts later, to `cpus`. Returns 0
/// or the system's error number.
[[nodiscard]] int bind_calling_thread(const std::vector<int>& cpus);

/// Returns CPUs as text: `0-3,8`.
[[nodiscard]] std::string format_cpus(std::vector<int> cpus);
/// Parses a text such as `0-3,8`; keeps the order. Empty if the text is malformed.
[[nodiscard]] std::vector<int> parse_cpus(std::string_view text);

/// Returns the number of CPUs that a process can keep busy if it may run on `allowed` CPUs with a
/// CPU `quota` (in CPUs). Rounds the quota down, but not below 1. With one thread more, the process
/// would use up its quota before the end of each period. The kernel would then stop all its threads
/// until the next period.
[[nodiscard]] int usable_cpus(int allowed, std::optional<double> quota);

}  // namespace steptune
