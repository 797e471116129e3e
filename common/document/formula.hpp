// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "common/configuration.hpp"
#include "common/document/fault.hpp"

namespace steptune::document {

/// Longest expression, to bound the parser's work.
inline constexpr std::size_t k_max_expression_bytes = 1000;

/// A numeric expression of a document. Its value depends on the configuration. `Scope::formula`
/// compiles it when the document is read. Copies are cheap and share the compiled expression.
/// Several threads may evaluate it at the same time.
class Formula {
 public:
  using Evaluate = std::function<double(const Configuration&)>;

  /// `evaluate` computes the value of the expression `text`. Several threads may call it at the
  /// same time.
  Formula(std::string text, Evaluate evaluate)
      : text_(std::move(text)), evaluate_(std::move(evaluate)) {}
  /// Returns a formula with the same value for every configuration. `text` is its source text.
  static Formula constant(double value, std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Returns NaN if the arithmetic has no result (0/0).
  [[nodiscard]] double evaluate(const Configuration& configuration) const {
    return evaluate_(configuration);
  }
  /// True if the formula's value is neither 0 nor NaN.
  [[nodiscard]] bool holds(const Configuration& configuration) const;

 private:
  std::string text_;
  Evaluate evaluate_;
};

/// Adds a fault at `pointer` if the formula's value for one of the configurations is not positive,
/// or is 1e300 or more.
void check_positive(const std::optional<Formula>& formula, const std::string& pointer,
                    std::span<const Configuration> configurations, Faults& faults);

}  // namespace steptune::document
