// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace steptune::golden {

/// A program with a pseudo-terminal as its controlling terminal, as a user at a keyboard has it.
class PseudoTerminal {
 public:
  /// Starts `argv` in `folder`. `environment` is added to PATH and TERM=xterm; there are no other
  /// variables.
  PseudoTerminal(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                 int columns, const std::map<std::string, std::string>& environment = {});
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;
  ~PseudoTerminal();

  void resize(int columns) const;
  void type(const std::string& keys) const;  ///< `\x03`: Ctrl-C
  /// Reads until the program has written `text` after position `from`; false after a minute or at
  /// the program's end.
  [[nodiscard]] bool until(const std::string& text, std::size_t from = 0);
  /// Reads to the program's end. Returns its exit status, or 128 + the signal that killed it.
  [[nodiscard]] int wait();

  /// Returns everything that was written so far; lines end in `\r\n`.
  [[nodiscard]] const std::string& written() const { return written_; }

 private:
  /// Reads the output within a second; false if the program has closed the terminal.
  bool read_some();

  pid_t pid_ = -1;
  int fd_ = -1;
  std::string written_;
};

/// Returns the screen of a terminal after `written`, so rewritten lines appear in their last form.
/// Understands the sequences of this program: new line, carriage return, colours, cursor up, erase
/// line. Does not wrap long lines.
[[nodiscard]] std::string screen_after(const std::string& written);

}  // namespace steptune::golden
