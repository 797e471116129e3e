// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/cli/console.hpp"

namespace steptune {

/// A text that is shown again as it changes: on a terminal in place, on its alternate screen, which
/// it leaves in the end; elsewhere after a blank line.
class RedrawnText {
 public:
  explicit RedrawnText(Console& console);
  RedrawnText(const RedrawnText&) = delete;
  RedrawnText& operator=(const RedrawnText&) = delete;
  ~RedrawnText();

  /// Lines that do not fit on the terminal are left out, and counted.
  void show(std::string text);
  /// Leaves the last text behind, where it scrolls like any other. Nothing is shown afterwards.
  void end();

 private:
  Console& console_;
  bool in_place_;
  bool ended_ = false;
  std::string shown_;
};

/// The first lines of `text` that fit into `rows` of a terminal of so many columns, where a longer
/// line takes several rows; the last one says how many more there are. `rows` of 0: all of it.
[[nodiscard]] std::string first_lines(const std::string& text, std::size_t rows,
                                      std::size_t columns);

}  // namespace steptune
