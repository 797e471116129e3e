// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/machine/process_activity.hpp"
#include "trial_runner/output/lacked_stream.hpp"
#include "tuner/init/help_text.hpp"
#include "tuner/init/native_runtimes.hpp"
#include "tuner/init/output_look.hpp"
#include "tuner/init/unread_output.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// A program that is to be looked at, and where.
struct LookOptions {
  std::vector<std::string> argv;
  std::filesystem::path folder;               ///< where it runs; absolute
  std::filesystem::path log_path;             ///< of its output
  bool terminal = false;                      ///< it has a pseudo-terminal
  std::filesystem::path standard_input = {};  ///< a file; empty: none
  double longest_help_s = 30.0;
  double longest_start_s = 120.0;  ///< to the first progress
  double watch_s = 3.0;            ///< from then on
  bool has_look = false;           ///< its output is known already
};

/// Findings of a few seconds of training.
struct OutputLook {
  std::optional<OutputReading> reading;  ///< how its output is read; nothing: it tells no progress
  /// Findings of PyTorch's import hook; nullopt if it did not reach the program or saw no training.
  std::optional<Survey> survey;
  NativeRuntimes runtimes;                  ///< in the program, as long as it ran
  std::optional<ProcessActivity> activity;  ///< threads, CPU use and waiting in its last seconds
  bool in_blocks = false;  ///< its output came in full buffers of the C library only
  /// Nothing in its output was read as progress, though the program did not fail.
  std::optional<UnreadOutput> unread;
  std::string ending;   ///< why there is neither reading nor survey, for people
  std::string failure;  ///< how it failed, where that is why: its last lines, too
  LackedStream lacked_stream = LackedStream::none;  ///< as the program's last words tell
};

/// Watches what a run prints and which libraries it loads, for an `OutputLook`.
class OutputWatch {
 public:
  /// `watch_s`: as in `LookOptions`.
  OutputWatch(std::filesystem::path log, const Clock& clock, double watch_s);
  ~OutputWatch();
  OutputWatch(const OutputWatch&) = delete;
  OutputWatch& operator=(const OutputWatch&) = delete;

  /// Looks at the libraries and the size of the output. Call it a few times a second.
  void look();
  /// Reads the output: lines that tell progress, so far.
  [[nodiscard]] std::size_t progress();
  /// Reads the output: it has told progress for twice `watch_s`.
  [[nodiscard]] bool has_seen_enough();
  /// Reads the output: a kind of line has come often enough, for some seconds, and no format that
  /// is known reads it.
  [[nodiscard]] bool is_not_understood(HookProgress hook);
  /// Once the run is over.
  [[nodiscard]] OutputLook result(Survey seen) const;

 private:
  class Output;
  const Clock& clock_;
  double watch_s_;
  double started_s_;
  std::unique_ptr<Output> output_;
  std::optional<double> progress_s_;  ///< since when
  std::optional<double> repeats_s_;   ///< since when a line that is not understood repeats
  NativeRuntimes runtimes_;
  bool in_blocks_ = true;
};

/// The result of asking for help.
struct HelpAnswer {
  HelpText help;
  std::string ending;  ///< why it was not understood, for people; empty where it was
  /// Its output, if it trained in spite of `--help`.
  std::optional<OutputLook> look;
  LackedStream lacked_stream = LackedStream::none;  ///< as the program's last words tell
};

/// Runs the command with `--help` among its program's options, as a process group of its own with
/// nothing on its standard input, until it ends, has printed 1 MiB or the time is over; then all of
/// it is ended. A program that trains in spite of it is ended at once if `has_look`, else as soon
/// as its output has been looked at. Errors: the program cannot be started; `interrupted`.
[[nodiscard]] Result<HelpAnswer> ask_help(const LookOptions& options, const Clock& clock,
                                          const std::function<bool()>& interrupted);

/// Runs the command as it is until it has told progress for `watch_s`, and ends it. Errors as
/// above.
[[nodiscard]] Result<OutputLook> look_at_output(const LookOptions& options, const Clock& clock,
                                                const std::function<bool()>& interrupted);

}  // namespace steptune
