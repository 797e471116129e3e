// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "search/space/expression.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/init/program_facts.hpp"
#include "tuner/init/program_look.hpp"
#include "tuner/init/study_guess.hpp"

namespace steptune {

/// Largest share of the time to examine a program that may be spent on reading its help. The rest
/// is for waiting for its first progress.
inline constexpr double k_share_of_help = 0.25;

/// Request to make a study file from a training command.
struct InitRequest {
  std::vector<std::string> argv;
  std::string name;     ///< name of the study; if empty, derived from the script
  std::string file;     ///< file to write; if empty, NAME.study.json
  bool force = false;   ///< replace an existing file
  bool no_run = false;  ///< do not run the program to examine its output
  bool quiet = false;   ///< print no progress
  /// Limit of the time to examine the program; nullopt: no limit.
  std::optional<double> longest_s = {};
  /// True if unreadable progress is an error. The caller tunes at once, so the user cannot complete
  /// the study file by hand.
  bool requires_progress = false;
  /// Leave out options that change the training (batch size, accumulation).
  bool same_training = false;
  bool terminal = false;   ///< the program needs a pseudo-terminal
  std::string input = {};  ///< file for its standard input, relative to this folder; empty: none
  /// Facts that the user gives (`--fact`), for the shipped search space of a trainer.
  Facts facts = {};
  std::optional<OutputLook> look = {};  ///< the program's output, if it was already examined
  std::string options = {};  ///< line of the file that lists the options of this call; may be empty
};

/// Findings about the program, and the study file made from them.
struct InitResult {
  std::string found;  ///< for people: format of the program's help, its trainer, its script
  std::string help;   ///< why the program's help was not understood; empty if it was understood
  StudyGuess guess;
  std::string file;
};

/// Asks the command for its options, runs it for some seconds in this folder, and writes a study
/// file. Trials of that study run in this folder, too. Errors: nothing can be varied, the file
/// already exists, the name is invalid, or a signal arrived (`flags`).
[[nodiscard]] Result<InitResult> init_from_command(CommandContext& context,
                                                   const InitRequest& request,
                                                   const SignalFlags& flags);

/// Collects facts from the command, its script and the files that it names in `folder`, without
/// running the program. Takes options from the script's source. A script that cannot be read adds
/// no facts.
[[nodiscard]] ProgramFacts readable_facts(const std::vector<std::string>& argv,
                                          const std::filesystem::path& folder);

/// Returns the first lines of a file that `init_from_command` writes for this command.
[[nodiscard]] std::string init_heading(const std::vector<std::string>& argv);

/// Returns a text for people: findings, parameters, options that were left out, and the file. Has
/// no final newline.
[[nodiscard]] std::string init_text(const InitResult& result);

}  // namespace steptune
