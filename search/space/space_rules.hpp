// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "search/space/expression.hpp"

namespace steptune {

/// Conditions and constraints of a space, evaluated on rows of numbers. A row has one number for
/// each parameter in the order of declaration: `Expression::number_of` its value, or 0 if the
/// parameter is inactive. Immutable and thread-safe. Evaluation uses an `Evaluator` borrowed from a
/// pool, because muParser's objects store the values that they compute with.
class SpaceRules {
 private:
  struct Rule {
    Expression expression;
    std::vector<std::size_t> places;  ///< index in the row of each mentioned parameter
    std::size_t last = 0;             ///< index of the last parameter that the rule needs
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

    /// True if the condition of `parameter` is true. Needs the numbers of all earlier parameters.
    [[nodiscard]] bool active(std::size_t parameter, std::span<const double> row) const;
    /// True if all constraints whose last parameter is `parameter` are satisfied.
    [[nodiscard]] bool feasible_at(std::size_t parameter, std::span<const double> row) const;
    /// Returns the first constraint that a complete row violates.
    [[nodiscard]] std::optional<std::size_t> violated(std::span<const double> row) const;

   private:
    friend class SpaceRules;
    explicit Evaluator(const SpaceRules& rules);
    [[nodiscard]] static bool holds(const Rule& rule, std::span<const double> row);

    const SpaceRules& rules_;
    std::unique_ptr<Compiled> compiled_;  ///< null if there are no rules
  };

  /// `conditions` has an entry for each of `names`.
  SpaceRules(const std::vector<std::string>& names,
             const std::vector<std::optional<Expression>>& conditions,
             const std::vector<Expression>& constraints);

  [[nodiscard]] Evaluator evaluator() const { return Evaluator(*this); }
  /// True if there are no rules: every row is active and feasible.
  [[nodiscard]] bool empty() const { return empty_; }

 private:
  bool empty_ = true;
  std::unique_ptr<const Compiled> prototype_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Compiled>> idle_;
};

}  // namespace steptune
