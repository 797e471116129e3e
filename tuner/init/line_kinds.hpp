// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/init/line_shape.hpp"

namespace steptune {

/// Values of one number in all lines of one kind.
struct NumberSeries {
  std::size_t piece = 0;  ///< index in the pieces of `LineKind::widest`
  /// Words between the previous number and this number, in lower case.
  std::vector<std::string> words;
  std::string unit;      ///< text directly after it, in lower case
  bool is_rate = false;  ///< `words/s: 4321`, `4321 words/s`
  bool is_whole = true;
  bool has_thousands = false;
  bool is_apart = false;          ///< punctuation separates it from the words: `2.3 avg loss, 0.1`
  bool is_of_evaluation = false;  ///< it or a number before it is named after an evaluation
  std::vector<double> values;

  /// Returns the last word before the number that may be its name; the unit if there is none. Skips
  /// words such as `is` and `number`.
  [[nodiscard]] std::string name() const;
  /// True if most differences from line to line are positive and of similar size. Unless
  /// `may_rest`, at most about half of the differences may be zero or negative.
  [[nodiscard]] bool grows_steadily(bool may_rest) const;
};

/// Lines that differ only in their numbers.
struct LineKind {
  ShapedLine widest;  ///< line with the most padding: its expressions also match the other lines
  std::vector<std::string> lines;
  std::vector<NumberSeries> numbers;
  bool is_evaluation = false;  ///< a word names an evaluation

  void add(ShapedLine line);

 private:
  void begin(const ShapedLine& line);
  void place();
};

/// Returns the kinds of lines that occur at least three times, with numbers that change.
[[nodiscard]] std::vector<LineKind> line_kinds(const std::vector<std::string>& lines);

/// True for words such as `is`, `the` and `number`, which name nothing.
[[nodiscard]] bool is_link_word(std::string_view word);

/// True for names of the current epoch.
[[nodiscard]] bool is_epoch_word(std::string_view word);

}  // namespace steptune
