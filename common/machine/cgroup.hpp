// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "common/machine/system_files.hpp"

namespace steptune {

/// Returns the folders of the control groups that contain this process, relative to the root.
/// Includes the group of cgroup version 2 and that of version 1's `controller` (cgroups(7)). Lists
/// each group and its parents, innermost first, since all their limits apply. In a container, the
/// path that /proc gives may not be mounted. The top of the mounted tree then is the container's
/// own group.
[[nodiscard]] std::vector<std::filesystem::path> cgroup_folders(const SystemFiles& files,
                                                                std::string_view controller);

/// Returns the lowest CPU quota (CFS bandwidth) of this process's control groups as a number of
/// CPUs: 1.5 means 150 ms of CPU time in each 100 ms. Returns nullopt without a quota.
[[nodiscard]] std::optional<double> cgroup_cpu_quota(const SystemFiles& files);

/// Returns the lowest memory limit of this process's control groups; nullopt without a limit.
/// Version 1 expresses "no limit" as the largest number of pages, which exceeds any machine's
/// memory.
[[nodiscard]] std::optional<double> cgroup_memory_limit_bytes(const SystemFiles& files);

}  // namespace steptune
