// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// A piece of a line of output.
struct LinePiece {
  enum class Kind {
    text,      ///< words and punctuation, the same in each line of a kind
    blank,     ///< blanks and tabs
    number,    ///< `12`, `1,234`, `-0.5e-3`, `nan`
    changing,  ///< dates, times of day, durations, bars, hexadecimal numbers
  };
  Kind kind = Kind::text;
  std::string text;  ///< as printed
};

/// A line of output, taken apart.
struct ShapedLine {
  std::string line;  ///< without terminal control sequences
  std::vector<LinePiece> pieces;
  /// The words of the line without its numbers: lines of one kind have the same.
  std::string shape;
};

[[nodiscard]] ShapedLine shape_of(std::string_view line);

/// A regular expression in RE2's syntax that matches, in each line of this kind, the pieces before
/// `number`, and the number itself as its group. It stays below 400 bytes, if need be by leaving
/// out pieces in the middle.
[[nodiscard]] std::string expression_for(const ShapedLine& line, std::size_t number,
                                         std::string_view group);

}  // namespace steptune
