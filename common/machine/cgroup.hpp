// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "common/machine/system_files.hpp"

namespace steptune {

/// The folders, relative to the root, of the control groups that this process is in, of version 2
/// and of version 1's `controller` (cgroups(7)): each group and those above it, innermost first,
/// since the limits of all of them hold. In a container the path that /proc names may not be
/// mounted, but the top of the tree, the container's own group, is.
[[nodiscard]] std::vector<std::filesystem::path> cgroup_folders(const SystemFiles& files,
                                                                std::string_view controller);

/// The tightest CPU quota (CFS bandwidth) of these groups, in CPUs' worth of time: 1.5 is 150 ms in
/// each 100 ms. Nothing without a quota.
[[nodiscard]] std::optional<double> cgroup_cpu_quota(const SystemFiles& files);

/// The tightest memory limit of these groups; nothing without a limit.
[[nodiscard]] std::optional<double> cgroup_memory_limit_bytes(const SystemFiles& files);

}  // namespace steptune
