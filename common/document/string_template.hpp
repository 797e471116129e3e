// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"

namespace steptune::document {

/// By parameter: labels of choices -> the longer strings that templates get for them.
using ChoiceStrings = std::map<std::string, std::map<std::string, std::string>>;

/// What placeholders that are no parameters stand for, by name.
using NamedTexts = std::map<std::string, std::string>;

/// A string with placeholders for the values of parameters: `--batch-size={batch_size}`. `{{` is a
/// brace; a lone `}` stands for itself. Parsed once; copies share nothing that changes.
class StringTemplate {
 public:
  /// `choices` may be null. `others`: names that are no parameters, for which whoever renders has
  /// texts. Errors: a placeholder that is not closed, or holds no name.
  [[nodiscard]] static Result<StringTemplate> parse(
      std::string_view text, std::shared_ptr<const ChoiceStrings> choices = nullptr,
      const std::set<std::string>& others = {});

  /// As it was written.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Parameters mentioned, in order of appearance, with repetitions.
  [[nodiscard]] std::vector<std::string> parameters() const;
  [[nodiscard]] bool has_parameters() const;
  /// Those of the `others` that it mentions, likewise.
  [[nodiscard]] std::vector<std::string> others() const;
  /// What stands before the first placeholder.
  [[nodiscard]] std::string_view prefix() const;

  /// The string with every placeholder replaced, the `others` by `texts`; nothing where a parameter
  /// is inactive, or a text is missing.
  [[nodiscard]] std::optional<std::string> render(const Configuration& configuration,
                                                  const NamedTexts& texts = {}) const;
  /// The same where types matter: a template that is one placeholder and nothing else stands for
  /// the parameter's value as it is, unless a labelled choice has a string behind it.
  [[nodiscard]] std::optional<Value> value(const Configuration& configuration) const;

 private:
  enum class PieceKind { literal, parameter, other };
  struct Piece {
    std::string text;  ///< literal, or a name
    PieceKind kind = PieceKind::literal;
  };
  [[nodiscard]] std::vector<std::string> names(PieceKind kind) const;

  std::string text_;
  std::vector<Piece> pieces_;
  std::shared_ptr<const ChoiceStrings> choices_;
};

}  // namespace steptune::document
