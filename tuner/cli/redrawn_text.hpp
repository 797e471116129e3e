// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/cli/console.hpp"

namespace steptune {

/// A text that is shown again whenever it changes. On a terminal, redraws the text in place on the
/// alternate screen, and returns to the normal screen at the end. On other outputs, prints each
/// version after a blank line.
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

/// Returns the first lines of `text` that fit into `rows` rows of a terminal with `columns`
/// columns. A line that is wider than the terminal takes several rows. The last line says how many
/// lines were left out. If `rows` is 0, returns the whole text.
[[nodiscard]] std::string first_lines(const std::string& text, std::size_t rows,
                                      std::size_t columns);

}  // namespace steptune
