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

/// Strings that templates insert for labelled choices, by parameter and then by label. A study file
/// may give a long choice a short label; reports and conditions then show the label.
using ChoiceStrings = std::map<std::string, std::map<std::string, std::string>>;

/// Texts for placeholders that are no parameters, by name.
using NamedTexts = std::map<std::string, std::string>;

/// A string with placeholders for the values of parameters: `--batch-size={batch_size}`. `{{` means
/// a brace; a lone `}` means itself. Copies share only immutable data.
class StringTemplate {
 public:
  /// `choices` may be null. `others` are the names of placeholders that are no parameters; `render`
  /// gets their texts. Fails if a placeholder is not closed or contains no name.
  [[nodiscard]] static Result<StringTemplate> parse(
      std::string_view text, std::shared_ptr<const ChoiceStrings> choices = nullptr,
      const std::set<std::string>& others = {});

  /// Returns the template as it was written.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Returns the parameters in order of appearance; may repeat.
  [[nodiscard]] std::vector<std::string> parameters() const;
  [[nodiscard]] bool has_parameters() const;
  /// Returns the other placeholders in order of appearance; may repeat.
  [[nodiscard]] std::vector<std::string> others() const;
  /// Returns the text before the first placeholder.
  [[nodiscard]] std::string_view prefix() const;

  /// Replaces every placeholder; `texts` has the texts of the `others`. Returns nullopt if a
  /// parameter is inactive or a text is missing.
  [[nodiscard]] std::optional<std::string> render(const Configuration& configuration,
                                                  const NamedTexts& texts = {}) const;
  /// Renders a value and keeps its type: if the template is a single placeholder, returns the
  /// parameter's value itself (or the string of a labelled choice). Otherwise returns the rendered
  /// string. Returns nullopt if a parameter is inactive or the template has `others`.
  [[nodiscard]] std::optional<Value> value(const Configuration& configuration) const;

 private:
  enum class PieceKind { literal, parameter, other };
  struct Piece {
    std::string text;  ///< literal text, or the placeholder's name
    PieceKind kind = PieceKind::literal;
  };
  [[nodiscard]] std::vector<std::string> names(PieceKind kind) const;

  std::string text_;
  std::vector<Piece> pieces_;
  std::shared_ptr<const ChoiceStrings> choices_;
};

}  // namespace steptune::document
