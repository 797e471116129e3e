// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/cli/command.hpp"

namespace steptune {

/// Options for a program that is tuned without a study file.
struct ProgramOptions {
  std::string name;       ///< name of the study; if empty, derived from the script
  bool safe = false;      ///< leave out settings that may change the loss
  bool semantic = false;  ///< also tune settings that change the training
  std::optional<double> samples_per_step = {};
  std::optional<double> planned_samples = {};
  std::string input;                 ///< file for the program's standard input; empty: none
  std::optional<double> worth = {};  ///< least gain that counts; nullopt: a study's default
  bool quiet = false;
  /// Limit of the tuning time in seconds; nullopt: no limit. At most half of this time is spent on
  /// examining the program. That includes reading the program's options if the hook cannot tune it.
  std::optional<double> longest_s = {};
  /// Called before a program is examined, because that takes long. If it returns an error, the
  /// program is not examined, and the error is reported. May be null.
  std::function<Result<void>()> before_inspection = {};
};

/// Adds `--name`, `--safe`, `--semantic`, `--samples-per-step`, `--samples` and
/// `--stdin`.
void add_program_options(CLI::App& command, ProgramOptions& options);

/// A study file. If a signal arrived before the file was written, `ended_by` has the signal's exit
/// code, and the user has already seen a message.
struct StudyFile {
  std::string path;
  ExitCode ended_by = ExitCode::ok;
  /// Start-up time of the program; nullopt if the program was not examined.
  std::optional<double> startup_s = {};
};

/// Returns the study file named by `words`. If `words` is empty, returns the folder's only study
/// file. For a command after `--`, returns `NAME.study.json` in this folder and writes it if it
/// does not exist (`write_program_study`). Errors: the folder has several study files, or the file
/// belongs to another command.
[[nodiscard]] Result<StudyFile> study_file_of(CommandContext& context,
                                              const std::vector<std::string>& words,
                                              const ProgramOptions& options);

}  // namespace steptune
