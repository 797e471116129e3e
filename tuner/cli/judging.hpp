// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tuner/cli/command.hpp"
#include "tuner/cli/judged_versions.hpp"
#include "tuner/report/judged_commands.hpp"

namespace steptune {

/// Options of `judge`.
struct JudgeOptions {
  std::vector<CommandWords> commands;  ///< with `--git` one, or one for each revision
  std::vector<std::string> revisions;  ///< `--git`; empty: not given
  std::vector<std::string> variables;  ///< `--env`; empty: not given
  std::vector<std::string> venvs;      ///< `--venv`; empty: not given
  std::string study;                   ///< `--study`; empty: not given
  std::vector<std::string> trials;     ///< `--trial`: numbers of the study's trials
  std::vector<std::string> fail_if;    ///< conditions (`FailCondition`)
  /// File to write OpenMetrics to, for a pipeline; empty: none.
  std::string report;
  std::string build;
  std::string name;  ///< name of the study; if empty, the campaign's name, or `judge`
  std::string time;
  std::string margin;
  std::string input;
  std::string campaign;        ///< empty: none
  bool compares_loss = false;  ///< a command whose loss is worse gets the verdict `worse`
  bool measures_gain = false;  ///< compares the campaign's champion with the first version
  bool quiet = false;
  /// Name of an unfinished study, which is continued if it compares the same commands. Empty: none.
  /// The time that this study has already taken does not count as part of `time`.
  std::string continued = {};
  /// If set, receives the verdicts, which are then not printed.
  std::function<void(const JudgedCommands&)> take_verdicts = {};
};

/// Judges the commands. Prints the verdicts, unless `take_verdicts` receives them or the options
/// measure a campaign's gain.
[[nodiscard]] ExitCode judge_commands(CommandContext& context, const JudgeOptions& options);

}  // namespace steptune
