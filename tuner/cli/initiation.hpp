// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/init/program_facts.hpp"
#include "tuner/init/program_look.hpp"
#include "tuner/init/study_guess.hpp"

namespace steptune {

/// A study file that is to be guessed from a training command.
struct InitRequest {
  std::vector<std::string> argv;
  std::string name;     ///< of the study; empty: after the script
  std::string file;     ///< to write; empty: NAME.study.json
  bool force = false;   ///< write over a file that is there
  bool no_run = false;  ///< do not look at its output
  bool quiet = false;   ///< say nothing of what is being done
  /// Longest that looking at the program may take; nothing: as long as that takes.
  std::optional<double> longest_s = {};
  /// The study is to be run as it is: an error where nothing is known to read its progress by.
  bool must_tell_progress = false;
  bool same_training = false;  ///< leave what makes it another training (batch size, accumulation)
  bool terminal = false;       ///< the program needs a pseudo-terminal
  std::string input = {};      ///< file of its standard input, relative to this folder; empty: none
  std::optional<OutputLook> look = {};  ///< its output, where that is known already
  std::string options = {};  ///< that this was asked with, a line of the file; empty: none
};

/// What was found out, and the file that follows from it.
struct InitResult {
  std::string found;  ///< for people: style of the help, trainer, script
  std::string help;   ///< why the help was not understood; empty where it was
  StudyGuess guess;
  std::string file;
};

/// Asks the command for its options, runs it for some seconds in this folder, and writes the study
/// file that follows, whose trials run in this folder, too. Errors: nothing is found that could be
/// varied, the file already exists, the name is none, or a signal came (`flags`).
[[nodiscard]] Result<InitResult> init_from_command(CommandContext& context,
                                                   const InitRequest& request,
                                                   const SignalFlags& flags);

/// What the command, its script and the files that it names in `folder` tell, without asking the
/// program: its options are those of the script's source. A script that cannot be read tells
/// nothing.
[[nodiscard]] ProgramFacts readable_facts(const std::vector<std::string>& argv,
                                          const std::filesystem::path& folder);

/// What a file begins with that `init_from_command` writes from this command.
[[nodiscard]] std::string init_heading(const std::vector<std::string>& argv);

/// For people, without a final newline: what was found, varied and left, and the file.
[[nodiscard]] std::string init_text(const InitResult& result);

}  // namespace steptune
