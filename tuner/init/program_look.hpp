// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
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

/// Settings to examine a program.
struct LookOptions {
  std::vector<std::string> argv;
  std::filesystem::path folder;    ///< folder where the program runs; absolute
  std::filesystem::path log_path;  ///< file for the program's output
  bool terminal = false;           ///< run the program with a pseudo-terminal
  /// File for the program's standard input; empty: none.
  std::filesystem::path standard_input = {};
  double longest_help_s = 30.0;
  double longest_start_s = 120.0;  ///< limit until the first progress
  double watch_s = 3.0;            ///< time to watch the hook's steps; output takes twice as long
  bool output_is_known = false;    ///< true if the program's output was already examined
};

/// Findings of a few seconds of training.
struct OutputLook {
  /// How to read the program's output; nullopt: no progress found. If `unread` is set, expressions
  /// that were drafted from the output read it.
  std::optional<OutputReading> reading;
  /// Findings of PyTorch's import hook; nullopt if it did not reach the program or saw no training.
  std::optional<Survey> survey;
  NativeRuntimes runtimes;                  ///< libraries in the program while it ran
  std::optional<ProcessActivity> activity;  ///< threads, CPU use and waiting in its last seconds
  double progress_s = 0.0;  ///< seconds from its first progress to the end of the observation
  bool in_blocks = false;   ///< its output came only in full buffers of the C library
  /// Set if no known format found progress in the output although the program did not fail.
  std::optional<UnreadOutput> unread;
  std::string ending;   ///< text for people: why there is neither `reading` nor `survey`
  std::string failure;  ///< how the program failed, with its last lines; empty if it did not fail
  LackedStream lacked_stream = LackedStream::none;  ///< according to the program's last lines
};

/// Observes what a run prints and which libraries it loads, for an `OutputLook`.
class OutputWatch {
 public:
  /// `watch_s` as in `LookOptions`.
  OutputWatch(std::filesystem::path log, const Clock& clock, double watch_s);

  /// Checks the libraries and the size of the output. Call it a few times a second.
  void poll();
  /// Reads the output and returns the number of lines with progress so far.
  [[nodiscard]] std::size_t progress();
  /// Reads the output. Returns true once it has shown progress for twice `watch_s`.
  [[nodiscard]] bool has_seen_enough();
  /// Reads the output. Returns true if a kind of line has repeated often enough for some seconds,
  /// but no known format reads it.
  [[nodiscard]] bool is_not_understood(HookProgress hook);
  /// Returns the findings. Call it when the run is over.
  [[nodiscard]] OutputLook result(Survey seen);

 private:
  void notice_output();
  [[nodiscard]] bool came_at_once() const;

  const Clock& clock_;
  double watch_s_;
  double started_s_;
  double printed_s_;  ///< time of the latest output
  std::uintmax_t seen_bytes_ = 0;
  std::filesystem::path log_;
  std::vector<OutputFormat> formats_ = output_formats();
  std::uintmax_t read_bytes_ = 0;         ///< size of the output when it was read last
  std::size_t progress_ = 0;              ///< lines with progress at that time
  std::optional<RepeatedLine> repeated_;  ///< line that repeats, if there was no progress
  std::optional<double> progress_s_;      ///< time of the first progress
  std::optional<double> repeats_s_;       ///< time of the first repetition that no format reads
  double repeated_s_ = 0.0;               ///< time at which `latest_repeated_` came
  std::string latest_repeated_;           ///< the latest such line
  NativeRuntimes runtimes_;
  bool in_blocks_ = true;
};

/// Result of running a program with `--help`.
struct HelpAnswer {
  HelpText help;
  std::string ending;  ///< text for people: why the help was not understood; otherwise empty
  /// Findings about the program's output, if it trained despite `--help`.
  std::optional<OutputLook> look;
  LackedStream lacked_stream = LackedStream::none;  ///< according to the program's last lines
};

/// Runs the command with `--help` among its program's options, in a new process group with
/// `standard_input`. Waits until it ends, has printed 1 MiB or the time is over; then ends the
/// whole group. If the program trains despite `--help`, it is ended at once if `output_is_known`,
/// otherwise after its output was examined. Errors: the program cannot be started; `interrupted`.
[[nodiscard]] Result<HelpAnswer> ask_help(const LookOptions& options, const Clock& clock,
                                          const std::function<bool()>& interrupted);

/// Runs the unchanged command and ends it. Waits until the hook has reported steps for `watch_s`,
/// or the output has shown progress for twice as long. Errors as for `ask_help`.
[[nodiscard]] Result<OutputLook> look_at_output(const LookOptions& options, const Clock& clock,
                                                const std::function<bool()>& interrupted);

}  // namespace steptune
