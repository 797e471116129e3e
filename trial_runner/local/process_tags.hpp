// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/machine/processes.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Returns environment entries `NAME=value` by which a runner finds its processes again. Every
/// process that the runner starts, and every process of a trial, inherits them.
[[nodiscard]] std::string run_tag_entry(std::string_view run_tag);
[[nodiscard]] std::string trial_tag_entry(TrialKey key);

/// Finds processes on the whole machine: those with all of `entries` in their environment,
/// `processes` themselves, and members of process groups led by one of `processes`. A group counts
/// only if its leader still exists, at least as a zombie. Adds all descendants of the found
/// processes. Leaves out zombies and the calling process.
[[nodiscard]] std::vector<ProcessId> find_tagged_processes(std::span<const std::string> entries,
                                                           std::span<const ProcessId> processes);

}  // namespace steptune::local
