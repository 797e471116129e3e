// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/cli/console.hpp"

namespace steptune {

/// A text that is shown again whenever it changes. On a terminal it is redrawn in place on the
/// alternate screen, which is left at the end. Elsewhere each version is printed after a blank
/// line.
class RedrawnText {
 public:
  explicit RedrawnText(Console& console);
  RedrawnText(const RedrawnText&) = delete;
  RedrawnText& operator=(const RedrawnText&) = delete;
  ~RedrawnText();

  /// Shows `text`. Lines that do not fit on the terminal are left out and counted.
  void show(std::string text);
  /// Leaves the last text on the normal screen. Nothing is shown afterwards.
  void end();

 private:
  Console& console_;
  bool in_place_;
  bool ended_ = false;
  std::string shown_;
};

/// Returns the first lines of `text` that fit into `rows` of a terminal with `columns` columns; a
/// longer line takes several rows. The last line says how many more lines there are. If `rows` is
/// 0, returns all of it.
[[nodiscard]] std::string first_lines(const std::string& text, std::size_t rows,
                                      std::size_t columns);

}  // namespace steptune
