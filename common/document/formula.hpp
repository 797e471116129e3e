// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "common/configuration.hpp"

namespace steptune::document {

inline constexpr std::size_t k_max_expression_bytes = 1000;

/// A number that depends on the configuration, as an expression of a document gives it. Compiled
/// where it is read (`Scope::formula`); copies are cheap and share what is compiled; may be
/// evaluated from several threads.
class Formula {
 public:
  using Evaluate = std::function<double(const Configuration&)>;

  /// `evaluate` computes what `text` says and may be called from several threads.
  Formula(std::string text, Evaluate evaluate)
      : text_(std::move(text)), evaluate_(std::move(evaluate)) {}
  /// The same number for every configuration. `text` is how it was written.
  static Formula constant(double value, std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// NaN where arithmetic has no value (0/0).
  [[nodiscard]] double evaluate(const Configuration& configuration) const {
    return evaluate_(configuration);
  }
  /// `evaluate` is neither 0 nor NaN.
  [[nodiscard]] bool holds(const Configuration& configuration) const;

 private:
  std::string text_;
  Evaluate evaluate_;
};

}  // namespace steptune::document
