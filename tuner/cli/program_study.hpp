// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/cli/command.hpp"

namespace steptune {

/// What the user gave beside a program that is to be tuned as it is.
struct ProgramOptions {
  std::string name;       ///< of the study; empty: after the script
  bool safe = false;      ///< leave out what rounds otherwise
  bool semantic = false;  ///< tune what changes the training, too
  std::optional<double> samples_per_step = {};
  std::optional<double> planned_samples = {};
  std::string input;  ///< file of the program's standard input; empty: none
  bool quiet = false;
  /// The tuning time, where it is limited: looking at the program takes half of it at most, its
  /// options, where the hook has no hold on it, included.
  std::optional<double> longest_s = {};
  /// Called before a program is looked at, which takes long: an error of this is told instead. Null
  /// where nothing can be in the way.
  std::function<Result<void>()> before_look = {};
};

/// Adds `--name`, `--safe`, `--semantic`, `--samples-per-step`, `--samples` and
/// `--stdin`.
void add_program_options(CLI::App& command, ProgramOptions& options);

/// A study file; or the signal that came before there was one, of which the user was told.
struct StudyFile {
  std::string path;
  ExitCode ended_by = ExitCode::ok;
  std::optional<double> startup_s = {};  ///< if the program was looked at for it
};

/// The study file that `words` name, or the folder's where they name none; of a command that stands
/// after `--`, `NAME.study.json` in this folder, which is written where there is none
/// (`write_program_study`). An error where there are several, or the file is of another command.
[[nodiscard]] Result<StudyFile> study_file_of(CommandContext& context,
                                              const std::vector<std::string>& words,
                                              const ProgramOptions& options);

}  // namespace steptune
