// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "search/space/expression.hpp"

namespace steptune {

/// An expression in the words of the evaluation library: `p0`, `p1`, ... for parameters, `c0`, ...
/// for facts and texts, `~` for `not`. Names of parameters never reach the library, so they cannot
/// collide with its own.
struct TranslatedExpression {
  std::string text;
  std::vector<std::size_t> origins;     ///< for each character of `text`, its place in the source
  std::vector<std::string> parameters;  ///< `p<i>`, in order of appearance
  std::vector<double> constants;        ///< `c<i>`
  std::vector<std::pair<std::string, std::string>> compared_texts;  ///< parameter, text
  std::vector<std::string> used_as_numbers;  ///< parameters that meet arithmetic, order or numbers
};

/// Checks words and quotes; grammar is left to the library.
[[nodiscard]] Result<TranslatedExpression> translate_expression(
    const std::string& source, const std::vector<std::string>& parameters, const Facts& facts);

/// `syntax error at character 9 of "workers >> 2": unexpected ">"`.
[[nodiscard]] Error expression_error(const std::string& source, std::size_t at,
                                     const std::string& reason, std::string hint = {});

}  // namespace steptune
