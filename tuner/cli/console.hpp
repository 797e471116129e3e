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

/// Opens /dev/null for closed standard descriptors, so that no file, such as the database, gets
/// their numbers. Ignores SIGPIPE. Writing to a closed stdout still fails.
void secure_standard_streams();

/// Restores the action for SIGPIPE that `secure_standard_streams` has replaced. Call it before this
/// process becomes another program.
void restore_pipe_signal();

/// Output of the program: results go to stdout, all other text to stderr.
class Console {
 public:
  explicit Console(Environment environment);

  void choose_color(ColorChoice choice) { color_choice_ = choice; }

  /// Writes a result. If the reader of a pipe has gone (`| head -1`), drops further output without
  /// an error. If the disk is full or stdout is closed, `finish` returns a failure.
  void result(std::string_view text);
  /// Writes indented `json` and a newline.
  void json_result(const Json& json);
  /// False once the reader of a pipe has gone, even if nothing was written since.
  [[nodiscard]] bool has_reader() const;
  /// Writes one or several lines to stderr. Text that cannot be written is dropped.
  void message(std::string_view text);
  /// Prints `steptune: error: ...` with its hint. Returns its exit code.
  [[nodiscard]] ExitCode error(const Error& error);
  void warning(std::string_view text);

  /// Returns the final exit code: `code`, or a failure if `code` is ok but results could not be
  /// written.
  [[nodiscard]] ExitCode finish(ExitCode code) const;

  [[nodiscard]] bool color_on_stdout() const;
  [[nodiscard]] bool color_on_stderr() const;
  /// Returns the columns of the terminal on stdout; 0 if it is no terminal (no limit).
  [[nodiscard]] std::size_t stdout_width() const;
  /// Returns the columns of the terminal on stderr; 0 if it is no terminal.
  [[nodiscard]] std::size_t stderr_width() const;
  [[nodiscard]] const Environment& environment() const { return environment_; }

 private:
  Environment environment_;
  ColorChoice color_choice_ = ColorChoice::automatic;
  bool reader_gone_ = false;
  bool write_failed_ = false;
};

/// Writes all of `text`, despite interruptions and short writes. Returns 0 or errno.
[[nodiscard]] int write_all(int fd, std::string_view text);

}  // namespace steptune
