// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/machine/process_activity.hpp"
#include "tuner/init/help_text.hpp"
#include "tuner/init/native_runtimes.hpp"
#include "tuner/init/output_look.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// A program that is to be looked at, and where.
struct LookOptions {
  std::vector<std::string> argv;
  std::filesystem::path folder;    ///< where it runs; absolute
  std::filesystem::path log_path;  ///< of its output
  double longest_help_s = 30.0;
  double longest_start_s = 120.0;  ///< to the first progress
  double watch_s = 3.0;            ///< from then on
};

/// What became of asking for help.
struct HelpAnswer {
  HelpText help;
  std::string ending;  ///< why it was not understood, for people; empty where it was
};

/// Runs the command with `--help` among its program's options, as a process group of its own with
/// nothing on its standard input, until it ends, has printed 1 MiB or the time is over; then all of
/// it is ended. Errors: the program cannot be started; `interrupted`.
[[nodiscard]] Result<HelpAnswer> ask_help(const LookOptions& options, const Clock& clock,
                                          const std::function<bool()>& interrupted);

/// What some seconds of training show.
struct OutputLook {
  std::optional<OutputReading> reading;  ///< how its output is read; nothing: it tells no progress
  /// What PyTorch's import hook saw, where that reaches the program and it trained.
  std::optional<Survey> survey;
  NativeRuntimes runtimes;                  ///< in the program, as long as it ran
  std::optional<ProcessActivity> activity;  ///< threads, CPU use and waiting in its last seconds
  bool in_blocks = false;  ///< its output came in full buffers of the C library only
  std::string ending;      ///< why there is neither reading nor survey, for people
  std::string failure;     ///< how it failed, where that is why: its last lines, too
};

/// Runs the command as it is until it has told progress for `watch_s`, and ends it. Errors as
/// above.
[[nodiscard]] Result<OutputLook> look_at_output(const LookOptions& options, const Clock& clock,
                                                const std::function<bool()>& interrupted);

}  // namespace steptune
