// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/line_shape.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

#include <re2/re2.h>

#include "common/terminal_text.hpp"

namespace steptune {
namespace {

/// Pieces that a shortened expression keeps both at the line's start and before the number.
constexpr std::size_t k_kept_pieces = 2;
/// Least number of letters before an expression's number. With fewer letters, the expression could
/// match other lines.
constexpr std::size_t k_telling_letters = 2;

bool is_alphanumeric(char c) {
  return is_word_character(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::string without_controls(std::string_view text) {
  std::string visible;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t skip = escape_sequence_length(text.substr(at)); skip > 0) {
      at += skip;
      continue;
    }
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte >= 0x20 && byte != 0x7f) || byte == '\t') visible += text[at];
    ++at;
  }
  return visible;
}

/// A kind of piece and the expression that matches it.
struct Pattern {
  LinePiece::Kind kind;
  bool inside_word;  ///< true if the piece may follow a letter or digit
  const char* regex;
};
constexpr std::array k_patterns{
    Pattern{LinePiece::Kind::blank, true, R"([ \t]+)"},
    Pattern{
        LinePiece::Kind::changing, false,
        R"(\d{4}[-/]\d\d[-/]\d\d(?:[T ,]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b)"},
    Pattern{LinePiece::Kind::changing, false, R"(\d{1,4}:\d\d(?::\d\d)?(?:[.,]\d+)?\b)"},
    // Alternating letters and digits: `0x7f3a`, `1h02m`.
    Pattern{LinePiece::Kind::changing, false, R"((?:\d+[A-Za-z]+){2}\w*)"},
    Pattern{LinePiece::Kind::changing, false, R"([A-Za-z]+\d+[A-Za-z]\w*)"},
    Pattern{LinePiece::Kind::number, false, R"([+-]?(?i:nan|inf|infinity)\b)"},
    Pattern{LinePiece::Kind::number, false,
            R"([+-]?(?:\d{1,3}(?:,\d{3})+\b|\d+|\.\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?)"},
    Pattern{LinePiece::Kind::number, true, R"(\d+)"},
    // Progress bars: block characters, or a run of punctuation.
    Pattern{LinePiece::Kind::changing, true, R"([\x80-\xff][\x80-\xff ]*)"},
    Pattern{LinePiece::Kind::changing, true, R"([=#>.*~_-]{3,})"},
    Pattern{LinePiece::Kind::text, true, R"([A-Za-z_]+)"},
};

/// Returns the first piece of `rest`; one character of text if no pattern fits.
LinePiece next_piece(std::string_view rest, char before) {
  static const auto k_regexes = [] {
    std::vector<std::unique_ptr<re2::RE2>> regexes;
    re2::RE2::Options options(re2::RE2::Quiet);
    options.set_encoding(re2::RE2::Options::EncodingLatin1);
    for (const Pattern& pattern : k_patterns)
      regexes.push_back(std::make_unique<re2::RE2>(pattern.regex, options));
    return regexes;
  }();
  const re2::StringPiece text(rest.data(), rest.size());
  for (std::size_t i = 0; i < k_patterns.size(); ++i) {
    if (!k_patterns[i].inside_word && is_alphanumeric(before)) continue;
    re2::StringPiece match;
    if (k_regexes[i]->Match(text, 0, rest.size(), re2::RE2::ANCHOR_START, &match, 1)) {
      return {k_patterns[i].kind, std::string(match.data(), match.size())};
    }
  }
  return {LinePiece::Kind::text, std::string(1, rest.front())};
}

/// True for a blank that is always present: between two words, two numbers, or a number and a word.
/// Other blanks are padding.
bool separates(const std::vector<LinePiece>& pieces, std::size_t blank) {
  if (blank == 0 || blank + 1 >= pieces.size()) return false;
  const auto joins = [](const LinePiece& piece, char end) {
    return piece.kind == LinePiece::Kind::number ||
           (piece.kind == LinePiece::Kind::text && is_alphanumeric(end));
  };
  const LinePiece& before = pieces[blank - 1];
  const LinePiece& after = pieces[blank + 1];
  return joins(before, before.text.back()) && joins(after, after.text.front());
}

std::string shape_text(const std::vector<LinePiece>& pieces) {
  std::string shape;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    switch (pieces[i].kind) {
      case LinePiece::Kind::text:
        shape += pieces[i].text;
        break;
      case LinePiece::Kind::blank:
        if (separates(pieces, i)) shape += ' ';
        break;
      case LinePiece::Kind::number:
        shape += '#';
        break;
      case LinePiece::Kind::changing:
        break;
    }
  }
  return shape;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view k_special = R"(\^$.|?*+()[]{})";
  std::string escaped;
  for (const char c : text) {
    if (k_special.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string expression_of(const std::vector<LinePiece>& pieces, std::size_t at) {
  switch (pieces[at].kind) {
    case LinePiece::Kind::text:
      return escaped(pieces[at].text);
    case LinePiece::Kind::blank:
      return separates(pieces, at) ? R"(\s+)" : R"(\s*)";
    case LinePiece::Kind::number:
      return R"(\S+)";
    case LinePiece::Kind::changing:
      return ".*?";
  }
  return "";
}

std::string expression_of(const std::vector<LinePiece>& pieces, std::size_t from,
                          std::size_t until) {
  std::string text;
  for (std::size_t at = from; at < until; ++at) {
    const std::string next = expression_of(pieces, at);
    // One `.*?` also covers the next piece.
    if (next == ".*?" && text.ends_with(".*?")) continue;
    text += next;
  }
  return text;
}

std::size_t letters_of(const std::vector<LinePiece>& pieces, std::size_t until) {
  std::size_t letters = 0;
  for (std::size_t at = 0; at < until; ++at) {
    if (pieces[at].kind != LinePiece::Kind::text) continue;
    letters += static_cast<std::size_t>(std::ranges::count_if(pieces[at].text, is_word_character));
  }
  return letters;
}

}  // namespace

bool is_word_character(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

ShapedLine shape_of(std::string_view line) {
  ShapedLine shaped;
  shaped.line = without_controls(line);
  const std::string_view text = shaped.line;
  char before = ' ';
  for (std::size_t at = 0; at < text.size();) {
    LinePiece piece = next_piece(text.substr(at), before);
    at += piece.text.size();
    before = piece.text.back();
    const bool goes_on = piece.kind == LinePiece::Kind::text && !shaped.pieces.empty() &&
                         shaped.pieces.back().kind == LinePiece::Kind::text;
    if (goes_on) {
      shaped.pieces.back().text += piece.text;
    } else {
      shaped.pieces.push_back(std::move(piece));
    }
  }
  if (!shaped.pieces.empty() && shaped.pieces.back().kind == LinePiece::Kind::blank) {
    shaped.pieces.pop_back();
  }
  shaped.shape = shape_text(shaped.pieces);
  return shaped;
}

std::string expression_for(const ShapedLine& line, std::size_t number, std::string_view group) {
  const std::vector<LinePiece>& pieces = line.pieces;
  const bool is_padded = !pieces.empty() && pieces.front().kind != LinePiece::Kind::blank;
  const std::string begin = is_padded ? R"(^\s*)" : "^";
  std::string text = begin + expression_of(pieces, 0, number);
  if (text.size() + group.size() > k_longest_expression && number > 2 * k_kept_pieces) {
    text = begin + expression_of(pieces, 0, k_kept_pieces) + ".*?" +
           expression_of(pieces, number - k_kept_pieces, number);
  }
  text += group;
  if (letters_of(pieces, number) >= k_telling_letters) return text;
  // If the text before the number does not identify the line, add the text after it up to the first
  // word.
  const std::size_t all = letters_of(pieces, number);
  std::size_t end = number + 1;
  while (end < pieces.size() && letters_of(pieces, end) - all < k_telling_letters)
    ++end;
  text += expression_of(pieces, number + 1, end);
  if (end == pieces.size()) text += R"(\s*$)";
  return text;
}

}  // namespace steptune
