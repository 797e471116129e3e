// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/loop.hpp"

namespace steptune {

/// Report of a finished run, for people and programs.
struct RunReport {
  std::string ended;           ///< one line: `study "NAME" ended: REASON`
  std::string counts;          ///< `40 trials: 31 completed, 5 stopped early`
  std::string text;            ///< for stdout: the result, or the leaderboard if there is none
  std::string recommendation;  ///< empty if there is none
  Json json;                   ///< one document; see configs/output.schema.json
};

struct RunReportOptions {
  bool verbose = false;  ///< leaderboard and details, too
  std::string rerun{};   ///< command that continues the study, without `--time`; empty: none
};

[[nodiscard]] Result<RunReport> make_run_report(const CommandContext& context, History history,
                                                const std::string& study, const LoopResult& result,
                                                const RunReportOptions& options = {});

/// Prints the report on stdout. An interrupted run prints text on stderr only.
void print_run_report(CommandContext& context, const RunReport& report, const std::string& study,
                      bool interrupted);

/// Returns the event for notifications: `failed` (no recommendation, or too many failures),
/// `improved` (a configuration was shown to be better than the baseline), `budget` (no improvement,
/// budget spent) or `completed`.
[[nodiscard]] std::string run_event(const LoopResult& result);

}  // namespace steptune
