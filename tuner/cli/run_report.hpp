// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/error.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/loop.hpp"

namespace steptune {

/// What `run` leaves on stdout: leaderboard and recommendation, or one JSON document. An
/// interrupted run prints text on stderr only.
[[nodiscard]] Result<void> print_run_report(CommandContext& context, History history,
                                            const std::string& study, const LoopResult& result,
                                            bool interrupted);

}  // namespace steptune
