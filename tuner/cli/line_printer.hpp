// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptune {

/// A block of status lines at the bottom of a terminal, rewritten in place; permanent lines scroll
/// above it. If the output is no smart terminal, only permanent lines are written. Each update is a
/// single write.
class LinePrinter {
 public:
  /// `fd` is the output. If its width is unknown, lines are cut to 80 columns.
  LinePrinter(int fd, bool smart) : fd_(fd), smart_(smart) {}
  LinePrinter(const LinePrinter&) = delete;
  LinePrinter& operator=(const LinePrinter&) = delete;
  ~LinePrinter() { clear(); }

  [[nodiscard]] bool smart() const { return smart_; }
  /// Returns the columns available for a status line.
  [[nodiscard]] std::size_t columns() const;

  /// Replaces the block. Cuts lines that are too wide in the middle. If there are too many lines,
  /// leaves out some in front of the last one.
  void status(const std::vector<std::string>& lines);
  /// Writes a permanent line and redraws the block below it.
  void print(const std::string& line);
  /// Removes the block.
  void clear();

 private:
  [[nodiscard]] std::string erase_block() const;
  [[nodiscard]] std::string draw_block() const;

  int fd_;
  bool smart_;
  std::vector<std::string> block_;
  std::size_t drawn_lines_ = 0;
};

}  // namespace steptune
