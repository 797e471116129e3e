// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"

namespace steptune {

/// Facts about the trials' machine, by name: `cpus`, `gpus`, `memory_gb`.
using Facts = std::map<std::string, double, std::less<>>;
inline constexpr std::array k_fact_names = {"cpus", "gpus", "memory_gb"};
/// Words of the expression language.
inline constexpr std::array<std::string_view, 5> k_expression_words = {"and", "or", "not", "true",
                                                                       "false"};

/// A condition or constraint over parameters and facts, such as `workers > 0 && precision ==
/// 'bf16'` or `workers + threads <= 2 * cpus`. Evaluated by muParser.
///
/// - Operators `+ - * / % ^`, comparisons, `a ? b : c`; functions `min max abs round floor ceil
///   sqrt exp ln log2 log10`.
/// - `&& || !` can be written `and or not`; `not` binds more loosely than comparisons, as in
///   Python. Any number but 0 counts as true; results are 1 or 0; `true` is 1.
/// - Quoted texts (either quote) compare with text-valued parameters by `==` and `!=`.
/// - An inactive parameter has the value 0 and equals no text.
///
/// A copy is compiled again. Evaluating one object from several threads is not safe.
class Expression {
 public:
  /// Compiles `text`. Returns an error with the position of a syntax error, or with an unknown name
  /// and the most similar known name. A parameter hides a fact of the same name.
  [[nodiscard]] static Result<Expression> compile(const std::string& text,
                                                  const std::vector<std::string>& parameters,
                                                  const Facts& facts);

  Expression(const Expression& other);
  Expression& operator=(const Expression& other);
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  /// Returns the value for one configuration; NaN if arithmetic has no result (0/0).
  [[nodiscard]] double evaluate(const Configuration& configuration) const;
  /// Evaluates with one number for each of `mentioned_parameters`, in their order. The number is
  /// `number_of` the parameter's value, or 0 if the parameter is inactive.
  [[nodiscard]] double evaluate(std::span<const double> numbers) const;
  /// True if the value is neither 0 nor NaN.
  [[nodiscard]] bool holds(const Configuration& configuration) const;
  [[nodiscard]] bool holds(std::span<const double> numbers) const;

  /// Returns the number that represents a value in expressions. For a text, it is a huge number
  /// made from the text's hash. This number differs from ordinary numbers and from the numbers of
  /// other texts. For other values, it is `to_number`.
  [[nodiscard]] static double number_of(const Value& value);

  [[nodiscard]] const std::string& text() const;
  /// Returns the parameters that the expression mentions, each once, in order of appearance.
  [[nodiscard]] const std::vector<std::string>& mentioned_parameters() const;
  /// Returns the pairs (parameter, text) that the expression compares, so that misspelt choices can
  /// be reported.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& compared_texts() const;
  /// Returns the parameters that occur in arithmetic or are compared by order or with numbers.
  /// Their values must not be texts.
  [[nodiscard]] const std::vector<std::string>& used_as_numbers() const;

 private:
  struct Compiled;
  explicit Expression(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace steptune
