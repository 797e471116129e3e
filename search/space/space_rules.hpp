// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "search/space/expression.hpp"

namespace steptune {

/// Conditions and constraints of a space over rows of numbers: one number per parameter in the
/// order of declaration, `Expression::number_of` its value or 0 where inactive. Immutable and
/// thread safe; evaluation happens on an `Evaluator` borrowed from a pool, because the expression
/// library's objects hold the values that they compute with.
class SpaceRules {
 private:
  struct Rule {
    Expression expression;
    std::vector<std::size_t> places;  ///< in the row, one per mentioned parameter
    std::size_t last = 0;  ///< the rule can be decided once this parameter has its number
  };
  struct Compiled {
    std::vector<std::optional<Rule>> conditions;  ///< one per parameter
    std::vector<Rule> constraints;
    std::vector<std::vector<std::size_t>> constraints_by_last;
  };

 public:
  class Evaluator {
   public:
    ~Evaluator();
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;

    /// Whether the condition of `parameter` holds; needs the numbers of the parameters before it.
    [[nodiscard]] bool active(std::size_t parameter, std::span<const double> row) const;
    /// Whether the constraints whose last parameter is `parameter` hold.
    [[nodiscard]] bool feasible_at(std::size_t parameter, std::span<const double> row) const;
    /// The first constraint that a whole row violates.
    [[nodiscard]] std::optional<std::size_t> violated(std::span<const double> row) const;

   private:
    friend class SpaceRules;
    explicit Evaluator(const SpaceRules& rules);
    [[nodiscard]] static bool holds(const Rule& rule, std::span<const double> row);

    const SpaceRules& rules_;
    std::unique_ptr<Compiled> compiled_;  ///< null where there are no rules
  };

  /// `conditions` has an entry for each of the `names`.
  SpaceRules(const std::vector<std::string>& names,
             const std::vector<std::optional<Expression>>& conditions,
             const std::vector<Expression>& constraints);

  [[nodiscard]] Evaluator evaluator() const { return Evaluator(*this); }
  /// Nothing to evaluate: every row is active and feasible.
  [[nodiscard]] bool empty() const { return empty_; }
  /// Whether any rule mentions the parameter, so that its number matters.
  [[nodiscard]] bool mentions(std::size_t parameter) const { return mentioned_[parameter]; }

 private:
  bool empty_ = true;
  std::vector<bool> mentioned_;
  std::unique_ptr<const Compiled> prototype_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Compiled>> idle_;
};

}  // namespace steptune
