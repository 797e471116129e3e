// SPDX-License-Identifier: Apache-2.0
#include "common/document/string_template.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"

namespace steptune::document {
namespace {

/// Returns the string of a labelled choice; null if the choice has no label.
const std::string* string_behind(const std::string& parameter, const std::string& value,
                                 const ChoiceStrings* choices) {
  if (choices == nullptr) return nullptr;
  const auto labels = choices->find(parameter);
  if (labels == choices->end()) return nullptr;
  const auto found = labels->second.find(value);
  return found == labels->second.end() ? nullptr : &found->second;
}

}  // namespace

Result<StringTemplate> StringTemplate::parse(std::string_view text,
                                             std::shared_ptr<const ChoiceStrings> choices,
                                             const std::set<std::string>& others) {
  StringTemplate result;
  result.text_ = text;
  result.choices_ = std::move(choices);
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty())
      result.pieces_.push_back({std::exchange(literal, {}), PieceKind::literal});
  };
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '{') {
      literal += text[at++];
    } else if (at + 1 < text.size() && text[at + 1] == '{') {
      literal += '{';
      at += 2;
    } else {
      const auto close = text.find('}', at);
      const std::string name(text.substr(
          at + 1, close == std::string_view::npos ? std::string_view::npos : close - at - 1));
      if (close == std::string_view::npos || !is_identifier(name)) {
        return fail(ErrorKind::usage,
                    fmt::format("\"{{{}\" is not a placeholder: write {{name}} for the value of a "
                                "parameter, or {{{{ for a brace",
                                printable_line(text.substr(at + 1, 20))));
      }
      end_literal();
      result.pieces_.push_back(
          {name, others.contains(name) ? PieceKind::other : PieceKind::parameter});
      at = close + 1;
    }
  }
  end_literal();
  return result;
}

std::vector<std::string> StringTemplate::names(PieceKind kind) const {
  std::vector<std::string> names;
  for (const Piece& piece : pieces_) {
    if (piece.kind == kind) names.push_back(piece.text);
  }
  return names;
}

std::vector<std::string> StringTemplate::parameters() const {
  return names(PieceKind::parameter);
}

std::vector<std::string> StringTemplate::others() const {
  return names(PieceKind::other);
}

bool StringTemplate::has_parameters() const {
  return std::ranges::find(pieces_, PieceKind::parameter, &Piece::kind) != pieces_.end();
}

std::string_view StringTemplate::prefix() const {
  if (pieces_.empty() || pieces_.front().kind != PieceKind::literal) return {};
  return pieces_.front().text;
}

std::optional<std::string> StringTemplate::render(const Configuration& configuration,
                                                  const NamedTexts& texts) const {
  std::string result;
  for (const Piece& piece : pieces_) {
    if (piece.kind == PieceKind::literal) {
      result += piece.text;
      continue;
    }
    if (piece.kind == PieceKind::other) {
      const auto text = texts.find(piece.text);
      if (text == texts.end()) return std::nullopt;
      result += text->second;
      continue;
    }
    const Value* value = configuration.find(piece.text);
    if (value == nullptr) return std::nullopt;
    const std::string text = to_text(*value);
    const std::string* behind = string_behind(piece.text, text, choices_.get());
    result += behind != nullptr ? *behind : text;
  }
  return result;
}

std::optional<Value> StringTemplate::value(const Configuration& configuration) const {
  if (pieces_.size() == 1 && pieces_.front().kind == PieceKind::parameter) {
    const std::string& name = pieces_.front().text;
    const Value* value = configuration.find(name);
    if (value == nullptr) return std::nullopt;
    if (string_behind(name, to_text(*value), choices_.get()) == nullptr) return *value;
  }
  auto text = render(configuration);
  if (!text) return std::nullopt;
  return Value(*std::move(text));
}

}  // namespace steptune::document
