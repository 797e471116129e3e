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

/// What a program left behind.
struct Ended {
  int exit_code = -1;  ///< 128 + signal if it was killed
  std::string out;
  std::string err;
};

enum class Stream { file, closed, broken_pipe };

/// How to start a program beside its arguments.
struct Setting {
  std::map<std::string, std::string> environment{};  ///< added to PATH and TERM=dumb, all there is
  Stream out = Stream::file;
  Stream err = Stream::file;
};

/// A folder of its own, removed at the end, in which the real program runs.
class Sandbox {
 public:
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  void write(const std::string& file, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& file) const;

  /// Runs `steptune` with these arguments to its end.
  [[nodiscard]] Ended steptune(const std::vector<std::string>& arguments,
                               const Setting& setting = {}) const;
  /// The same on a terminal of 100 columns; everything is in `out`.
  [[nodiscard]] Ended on_terminal(const std::string& shell_command,
                                  const Setting& setting = {}) const;
  [[nodiscard]] Ended program(const std::vector<std::string>& argv,
                              const Setting& setting = {}) const;

  /// Starts `steptune` and returns; `wait` gathers what it left in `out.txt` and `err.txt`.
  [[nodiscard]] pid_t start(const std::vector<std::string>& arguments,
                            const Setting& setting = {}) const;
  [[nodiscard]] Ended wait(pid_t pid) const;
  /// Waits until stderr of the started program contains `text`; false after half a minute.
  [[nodiscard]] bool until_err_contains(const std::string& text) const;

 private:
  [[nodiscard]] pid_t spawn(const std::vector<std::string>& argv, const Setting& setting) const;

  TemporaryFolder folder_{"golden"};
};

[[nodiscard]] std::string steptune_program();

/// True if /usr/bin/python3 has PyTorch. Importing it would take seconds.
[[nodiscard]] bool has_pytorch();

/// Compares line by line; `{{regex}}` in an expected line stands for what the regular expression
/// matches, and a line `{{...}}` for any number of lines. Empty if all lines match, else what
/// differs, with the whole actual text.
[[nodiscard]] std::string difference(const std::string& expected, const std::string& actual);

}  // namespace steptune::golden
