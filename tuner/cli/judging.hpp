// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tuner/cli/command.hpp"
#include "tuner/report/judged_commands.hpp"

namespace steptune {

/// Options of `judge`.
struct JudgeOptions {
  std::vector<std::string> words;      ///< the commands, with separators
  std::vector<std::string> revisions;  ///< `--git`; empty: not given
  std::string build;
  std::string name;  ///< empty: the campaign's, or `judge`
  std::string time;
  std::string margin;
  std::string input;
  std::string campaign;        ///< empty: none
  bool measures_gain = false;  ///< compares the campaign's champion with the first version
  bool quiet = false;
  /// Unfinished study to continue, if it compares the same commands. Empty: none.
  std::string continued = {};
  /// Takes the verdicts in place of the terminal. May be null.
  std::function<void(const JudgedCommands&)> take_verdicts = {};
};

/// Between two commands of the command line.
inline constexpr const char* k_next_command = "---";

/// Judges the commands. Prints the verdicts, unless the options take them or measure a campaign's
/// gain.
[[nodiscard]] ExitCode judge_commands(CommandContext& context, const JudgeOptions& options);

}  // namespace steptune
