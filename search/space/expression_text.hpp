// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "search/space/expression.hpp"

namespace steptune {

/// An expression translated for muParser: `p0`, `p1`, ... for parameters, `c0`, ... for facts and
/// texts, `~` for `not`. Parameters' names never reach muParser, so they cannot collide with its
/// own names.
struct TranslatedExpression {
  std::string text;
  std::vector<std::size_t> origins;     ///< position in the source of each character of `text`
  std::vector<std::string> parameters;  ///< names of `p<i>`, in order of appearance
  std::vector<double> constants;        ///< values of `c<i>`
  std::vector<std::pair<std::string, std::string>> compared_texts;  ///< parameter, text
  std::vector<std::string> used_as_numbers;  ///< see `Expression::used_as_numbers`
};

/// Translates an expression. Checks words and quotes; muParser checks the grammar.
[[nodiscard]] Result<TranslatedExpression> translate_expression(
    const std::string& source, const std::vector<std::string>& parameters, const Facts& facts);

/// Makes the error `at character 9 of "workers & 2": unexpected "&"`.
[[nodiscard]] Error expression_error(const std::string& source, std::size_t at,
                                     const std::string& reason, std::string hint = {});

}  // namespace steptune
