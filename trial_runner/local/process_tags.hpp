// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/machine/processes.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Return environment entries `NAME=value` by which a runner finds its processes again. Every
/// process of a trial inherits both entries.
[[nodiscard]] std::string run_tag_entry(std::string_view run_tag);
[[nodiscard]] std::string trial_tag_entry(TrialKey key);

/// Searches the whole machine for processes with all of `entries` in their environment. Also
/// returns `processes` themselves, and members of process groups led by one of `processes`. A group
/// counts only if its leader still exists, at least as a zombie. Includes all descendants of these
/// processes. Leaves out zombies and the calling process.
[[nodiscard]] std::vector<ProcessId> find_tagged_processes(std::span<const std::string> entries,
                                                           std::span<const ProcessId> processes);

}  // namespace steptune::local
