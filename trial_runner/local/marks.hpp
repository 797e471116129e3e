// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trial_runner/local/proc.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Environment entries that every process of a runner, and of a trial, carries.
[[nodiscard]] std::string run_mark(std::string_view run_tag);
[[nodiscard]] std::string trial_mark(TrialKey key);

/// Looks through the whole machine, zombies and the calling process aside, for processes that carry
/// all of `entries` in their environment or belong to the process group of one of `leaders` (if
/// that very process is still there, be it as a zombie), and for all descendants of these.
[[nodiscard]] std::vector<ProcessId> find_marked(std::span<const std::string> entries,
                                                 std::span<const ProcessId> leaders);

}  // namespace steptune::local
