// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/machine/processes.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// `NAME=value` entries by which a runner finds its processes again: every process that it starts,
/// and every process of a trial, inherits them in its environment.
[[nodiscard]] std::string run_tag_entry(std::string_view run_tag);
[[nodiscard]] std::string trial_tag_entry(TrialKey key);

/// Looks through the whole machine, zombies and the calling process aside, for processes that carry
/// all of `entries` in their environment, are one of `processes` or belong to the process group
/// that one of these leads (if that very process is still there, be it as a zombie), and for all
/// descendants of these.
[[nodiscard]] std::vector<ProcessId> find_tagged_processes(std::span<const std::string> entries,
                                                           std::span<const ProcessId> processes);

}  // namespace steptune::local
