// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/text_template.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/study/identifiers.hpp"

namespace steptune::study {

Result<TextTemplate> TextTemplate::parse(std::string_view text) {
  TextTemplate result;
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) result.pieces_.push_back({std::exchange(literal, {}), false});
  };
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '{') {
      literal += text[at++];
    } else if (at + 1 < text.size() && text[at + 1] == '{') {
      literal += '{';
      at += 2;
    } else {
      const auto close = text.find('}', at);
      const auto name = text.substr(
          at + 1, close == std::string_view::npos ? std::string_view::npos : close - at - 1);
      if (close == std::string_view::npos || !is_identifier(name)) {
        return fail(ErrorKind::usage,
                    fmt::format("\"{{{}\" is no placeholder: write {{name}} for the value of a "
                                "parameter, or {{{{ for a brace",
                                printable_line(text.substr(at + 1, 20))));
      }
      end_literal();
      result.pieces_.push_back({std::string(name), true});
      at = close + 1;
    }
  }
  end_literal();
  return result;
}

std::vector<std::string> TextTemplate::parameters() const {
  std::vector<std::string> names;
  for (const Piece& piece : pieces_) {
    if (piece.is_parameter) names.push_back(piece.text);
  }
  return names;
}

bool TextTemplate::has_parameters() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.is_parameter; });
}

std::string_view TextTemplate::prefix() const {
  if (pieces_.empty() || pieces_.front().is_parameter) return {};
  return pieces_.front().text;
}

std::optional<std::string> TextTemplate::render(
    const std::function<std::optional<std::string>(const std::string&)>& value_of) const {
  std::string text;
  for (const Piece& piece : pieces_) {
    if (!piece.is_parameter) {
      text += piece.text;
      continue;
    }
    const auto value = value_of(piece.text);
    if (!value) return std::nullopt;
    text += *value;
  }
  return text;
}

}  // namespace steptune::study
