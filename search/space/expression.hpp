// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"

namespace steptune {

/// What is known of the machine that trials run on, by name: `cpus`, `gpus`, `memory_gb`.
using Facts = std::map<std::string, double, std::less<>>;

/// A condition or constraint over parameters and facts, such as `workers > 0 && precision == 'bf16'`
/// or `workers + threads <= 2 * cpus`. Evaluated by muParser; quoted texts compare with text-valued
/// parameters; `&& || !` and `and or not` are the same; true is 1. An inactive parameter counts as 0
/// (and equals no text). Copies are cheap; evaluation is not thread safe on one object.
class Expression {
 public:
  /// Compiles `text`. Errors: syntax, with the position; a name that is neither in `parameters` nor
  /// in `facts`, with the nearest one that is.
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
  /// `evaluate` is neither 0 nor NaN.
  [[nodiscard]] bool holds(const Configuration& configuration) const;

  [[nodiscard]] const std::string& text() const;
  /// Names of the parameters that the expression mentions, each once, in order of appearance.
  [[nodiscard]] const std::vector<std::string>& mentioned_parameters() const;

 private:
  struct Compiled;
  explicit Expression(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace steptune
