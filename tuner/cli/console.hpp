// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "common/environment.hpp"
#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/cli/exit_code.hpp"
#include "tuner/cli/terminal.hpp"

namespace steptune {

/// Opens /dev/null in place of standard descriptors that are closed, so that no file, least of all
/// the database, gets their numbers; and ignores SIGPIPE. Writing to a closed stdout still fails.
void secure_standard_streams();

/// Gives SIGPIPE back what `secure_standard_streams` found: for a program that this one becomes.
void restore_pipe_signal();

/// The program's two ways out: results on stdout, everything else on stderr.
class Console {
 public:
  explicit Console(Environment environment);

  void choose_color(ColorChoice choice) { color_choice_ = choice; }

  /// Writes a result. A reader that has gone (`| head -1`) is no fault and ends the output; a full
  /// disk or a closed stdout is, and becomes the exit code of `finish`.
  void result(std::string_view text);
  /// `json` indented, and a newline.
  void json_result(const Json& json);
  /// Whether somebody may still read results: false once the reader of a pipe has gone, also where
  /// nothing has been written since.
  [[nodiscard]] bool has_reader() const;
  /// One line, or several, on stderr; what cannot be written there is dropped.
  void message(std::string_view text);
  /// `steptune: error: ...` with its hint; returns the exit code for it.
  [[nodiscard]] ExitCode error(const Error& error);
  void warning(std::string_view text);

  /// The exit code to end with: `code`, unless it is ok and results could not be written.
  [[nodiscard]] ExitCode finish(ExitCode code) const;

  [[nodiscard]] bool color_on_stdout() const;
  [[nodiscard]] bool color_on_stderr() const;
  /// Columns of the terminal that stdout is; 0: not a terminal, no limit.
  [[nodiscard]] std::size_t stdout_width() const;
  /// The same of stderr.
  [[nodiscard]] std::size_t stderr_width() const;
  [[nodiscard]] const Environment& environment() const { return environment_; }

 private:
  Environment environment_;
  ColorChoice color_choice_ = ColorChoice::automatic;
  bool reader_gone_ = false;
  bool write_failed_ = false;
};

/// Writes all of `text`, through interruptions and short writes; 0 or the errno.
[[nodiscard]] int write_all(int fd, std::string_view text);

}  // namespace steptune
