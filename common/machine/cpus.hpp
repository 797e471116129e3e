// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"

namespace steptune {

/// CPUs that the calling thread may run on (affinity, within the cpuset of its control group),
/// ascending.
[[nodiscard]] Result<std::vector<int>> allowed_cpus();

/// Binds the calling thread, and what it starts from then on, to these; 0, or the system's error.
[[nodiscard]] int bind_calling_thread(const std::vector<int>& cpus);

/// `0-3,8`.
[[nodiscard]] std::string format_cpus(std::vector<int> cpus);
/// The same read, ascending as written; empty if it is malformed.
[[nodiscard]] std::vector<int> parse_cpus(std::string_view text);

/// How many CPUs a process can keep busy that may run on `allowed` of them and has a CPU `quota`,
/// in CPUs' worth of time: the quota rounded down, at least 1. Threads come in whole numbers, and
/// one thread more than the quota pays for makes the kernel stop all of them for the rest of each
/// period, as soon as the quota is used up.
[[nodiscard]] int usable_cpus(int allowed, std::optional<double> quota);

}  // namespace steptune
