// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"

namespace steptune::study {

/// A text with placeholders: `--batch-size={batch_size}`. `{{` is a brace; a lone `}` stands for
/// itself.
class TextTemplate {
 public:
  /// Errors: a placeholder that is not closed, or holds no name.
  [[nodiscard]] static Result<TextTemplate> parse(std::string_view text);

  /// Parameters mentioned, in order of appearance, with repetitions.
  [[nodiscard]] std::vector<std::string> parameters() const;
  [[nodiscard]] bool has_parameters() const;
  /// Text before the first placeholder.
  [[nodiscard]] std::string_view prefix() const;

  /// The text with every placeholder replaced; nothing if `value_of` has none for one of them.
  [[nodiscard]] std::optional<std::string> render(
      const std::function<std::optional<std::string>(const std::string&)>& value_of) const;

 private:
  struct Piece {
    std::string text;  ///< literal, or name of a parameter
    bool is_parameter = false;
  };
  std::vector<Piece> pieces_;
};

}  // namespace steptune::study
