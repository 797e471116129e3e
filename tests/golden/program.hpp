// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "tests/support/temporary_folder.hpp"

namespace steptune::golden {

/// Exit code and output of a program.
struct Ended {
  int exit_code = -1;  ///< 128 + signal if a signal killed it
  std::string out;
  std::string err;
};

enum class Stream { file, closed, broken_pipe };

/// Setting in which a program starts, beside its arguments.
struct Setting {
  /// Added to PATH and TERM=dumb; there are no others.
  std::map<std::string, std::string> environment{};
  Stream out = Stream::file;
  Stream err = Stream::file;
};

/// A separate folder in which the real program runs, removed at the end.
class Sandbox {
 public:
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  void write(const std::string& file, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& file) const;

  /// Runs `steptune` with these arguments to its end.
  [[nodiscard]] Ended steptune(const std::vector<std::string>& arguments,
                               const Setting& setting = {}) const;
  /// Runs a shell command on a terminal of 100 columns; all output is in `out`.
  [[nodiscard]] Ended on_terminal(const std::string& shell_command,
                                  const Setting& setting = {}) const;
  [[nodiscard]] Ended program(const std::vector<std::string>& argv,
                              const Setting& setting = {}) const;

  /// Starts `steptune` and returns; `wait` collects its output from `out.txt` and `err.txt`.
  [[nodiscard]] pid_t start(const std::vector<std::string>& arguments,
                            const Setting& setting = {}) const;
  [[nodiscard]] Ended wait(pid_t pid) const;
  /// Waits until the program's stderr contains `text`; false after half a minute.
  [[nodiscard]] bool until_err_contains(const std::string& text) const;

 private:
  [[nodiscard]] pid_t spawn(const std::vector<std::string>& argv, const Setting& setting) const;

  TemporaryFolder folder_{"golden"};
};

[[nodiscard]] std::string steptune_program();

/// True if /usr/bin/python3 has PyTorch. Does not import it, which would take seconds.
[[nodiscard]] bool has_pytorch();

/// Compares line by line. `{{regex}}` in an expected line matches the regular expression, and a
/// line `{{...}}` matches any number of lines. Returns an empty text if all lines match, otherwise
/// the differences and the whole actual text.
[[nodiscard]] std::string difference(const std::string& expected, const std::string& actual);

}  // namespace steptune::golden
