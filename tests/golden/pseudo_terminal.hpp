// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace steptune::golden {

/// A program on a pseudo-terminal of its own, which is its controlling terminal: what a user at a
/// keyboard has before them.
class PseudoTerminal {
 public:
  /// Starts `argv` in `folder`; `environment` is added to PATH and TERM=xterm, all there is.
  PseudoTerminal(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                 int columns, const std::map<std::string, std::string>& environment = {});
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;
  ~PseudoTerminal();

  void resize(int columns) const;
  void type(const std::string& keys) const;  ///< `\x03`: Ctrl-C
  /// Reads until the program has written `text` after the place `from`; false after a minute or at
  /// its end.
  [[nodiscard]] bool until(const std::string& text, std::size_t from = 0);
  /// Reads to the program's end; its exit status, or 128 + the signal that killed it.
  [[nodiscard]] int wait();

  /// Everything that was written so far, lines ending in `\r\n`.
  [[nodiscard]] const std::string& written() const { return written_; }

 private:
  /// Reads what there is within a second; false when the program has closed the terminal.
  bool read_some();

  pid_t pid_ = -1;
  int fd_ = -1;
  std::string written_;
};

/// What a terminal shows after `written`: lines that were rewritten appear as they were last.
/// Understands what this program writes: new lines, carriage returns, colours, cursor up, erase
/// line; long lines are not wrapped.
[[nodiscard]] std::string screen_after(const std::string& written);

}  // namespace steptune::golden
