// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// True for letters and `_`.
[[nodiscard]] bool is_word_character(char c);

/// A piece of a line of output.
struct LinePiece {
  enum class Kind {
    text,      ///< words and punctuation, equal in all lines of a kind
    blank,     ///< blanks and tabs
    number,    ///< `12`, `1,234`, `-0.5e-3`, `nan`
    changing,  ///< dates, times of day, durations, progress bars, hexadecimal numbers
  };
  Kind kind = Kind::text;
  std::string text;  ///< as printed
};

/// A line of output, split into pieces.
struct ShapedLine {
  std::string line;  ///< without terminal control sequences
  std::vector<LinePiece> pieces;
  /// Words of the line without its numbers; equal for all lines of a kind.
  std::string shape;
};

[[nodiscard]] ShapedLine shape_of(std::string_view line);

/// Longest expression that is proposed. A study file allows 1000 bytes, and as many in the comment
/// that shows the expression as JSON, where it may need twice its length.
inline constexpr std::size_t k_longest_expression = 400;

/// Returns a regular expression in RE2's syntax for lines of this kind. The expression matches the
/// pieces before `number`, and the number itself as its group. Leaves out pieces in the middle if
/// the expression would be longer than `k_longest_expression`. Long words may still make it longer.
[[nodiscard]] std::string expression_for(const ShapedLine& line, std::size_t number,
                                         std::string_view group);

}  // namespace steptune
