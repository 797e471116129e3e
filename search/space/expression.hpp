// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"

namespace steptune {

/// What is known of the machine that trials run on, by name: `cpus`, `gpus`, `memory_gb`.
using Facts = std::map<std::string, double, std::less<>>;

/// A condition or constraint over parameters and facts, such as `workers > 0 && precision ==
/// 'bf16'` or `workers + threads <= 2 * cpus`. Evaluated by muParser. Quoted texts (either quote)
/// compare with text-valued parameters through `==` and `!=`; `&& || !` and `and or not` are the
/// same, but that `not` binds more loosely than comparisons do, as in Python. They take any number
/// other than 0 for true and yield 1 or 0; `true` is 1. Operators
/// `+ - * / % ^`, comparisons, `a ? b : c`; functions `min max abs round floor ceil sqrt exp ln
/// log2 log10`. An inactive parameter counts as 0 (and equals no text). Copies are cheap;
/// evaluation is not thread safe on one object.
class Expression {
 public:
  /// Compiles `text`. Errors: syntax, with the position; a name that is neither in `parameters` nor
  /// in `facts`, with the nearest one that is. A parameter hides a fact of the same name.
  [[nodiscard]] static Result<Expression> compile(const std::string& text,
                                                  const std::vector<std::string>& parameters,
                                                  const Facts& facts);

  Expression(const Expression& other);
  Expression& operator=(const Expression& other);
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  /// The value for one configuration; NaN where arithmetic has none (0/0).
  [[nodiscard]] double evaluate(const Configuration& configuration) const;
  /// The same for values given as numbers: one per mentioned parameter, in that order, each
  /// `number_of` its value or 0 where inactive.
  [[nodiscard]] double evaluate(std::span<const double> numbers) const;
  /// `evaluate` is neither 0 nor NaN.
  [[nodiscard]] bool holds(const Configuration& configuration) const;
  [[nodiscard]] bool holds(std::span<const double> numbers) const;

  /// The number that stands for a value in expressions: `to_number`, and for a text one that equals
  /// no other text's and no ordinary number.
  [[nodiscard]] static double number_of(const Value& value);

  [[nodiscard]] const std::string& text() const;
  /// Names of the parameters that the expression mentions, each once, in order of appearance.
  [[nodiscard]] const std::vector<std::string>& mentioned_parameters() const;
  /// Pairs (parameter, text) that the expression compares, for telling misspelt choices.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& compared_texts() const;
  /// Parameters that meet arithmetic, order or numbers; text values have none of these.
  [[nodiscard]] const std::vector<std::string>& used_as_numbers() const;

 private:
  struct Compiled;
  explicit Expression(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace steptune
