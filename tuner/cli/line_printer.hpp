// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptune {

/// A block of status lines at the bottom of a terminal that is rewritten in place, with permanent
/// lines scrolling above it. On anything but a smart terminal the block is never shown and
/// permanent lines are all there is. Each update is a single write.
class LinePrinter {
 public:
  /// `width` 0: not known; lines are cut to 80 columns then.
  LinePrinter(int fd, bool smart) : fd_(fd), smart_(smart) {}
  LinePrinter(const LinePrinter&) = delete;
  LinePrinter& operator=(const LinePrinter&) = delete;
  ~LinePrinter() { clear(); }

  [[nodiscard]] bool smart() const { return smart_; }
  /// Columns that a status line may take.
  [[nodiscard]] std::size_t columns() const;

  /// Replaces the block; lines are elided in their middle to the terminal's width.
  void status(const std::vector<std::string>& lines);
  /// Writes a line that stays; the block, if any, is drawn again below it.
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
