// SPDX-License-Identifier: Apache-2.0
#include "search/space/space_rules.hpp"

#include <algorithm>
#include <array>

#include "search/space/search_space.hpp"

namespace steptune {

SpaceRules::SpaceRules(const std::vector<std::string>& names,
                       const std::vector<std::optional<Expression>>& conditions,
                       const std::vector<Expression>& constraints) {
  const auto rule_of = [&](const Expression& expression) {
    Rule rule{expression, {}, 0};
    for (const std::string& name : expression.mentioned_parameters()) {
      const auto place =
          static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      rule.places.push_back(place);
      rule.last = std::max(rule.last, place);
    }
    return rule;
  };
  auto compiled = std::make_unique<Compiled>();
  compiled->constraints_by_last.resize(names.size());
  for (const auto& condition : conditions) {
    compiled->conditions.push_back(condition ? std::optional(rule_of(*condition)) : std::nullopt);
    if (condition) empty_ = false;
  }
  for (const Expression& constraint : constraints) {
    compiled->constraints.push_back(rule_of(constraint));
    compiled->constraints_by_last[compiled->constraints.back().last].push_back(
        compiled->constraints.size() - 1);
    empty_ = false;
  }
  prototype_ = std::move(compiled);
}

SpaceRules::Evaluator::Evaluator(const SpaceRules& rules) : rules_(rules) {
  if (rules.empty_) return;
  {
    const std::lock_guard lock(rules.mutex_);
    if (!rules.idle_.empty()) {
      compiled_ = std::move(rules.idle_.back());
      rules.idle_.pop_back();
    }
  }
  // A copy compiles every expression again, which takes tens of microseconds. It is made once for
  // each concurrent thread.
  if (!compiled_) compiled_ = std::make_unique<Compiled>(*rules.prototype_);
}

SpaceRules::Evaluator::~Evaluator() {
  if (!compiled_) return;
  const std::lock_guard lock(rules_.mutex_);
  rules_.idle_.push_back(std::move(compiled_));
}

bool SpaceRules::Evaluator::holds(const Rule& rule, std::span<const double> row) {
  std::array<double, k_max_parameters> numbers;
  const std::size_t count = rule.places.size();
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = row[rule.places[i]];
  return rule.expression.holds(std::span<const double>(numbers.data(), count));
}

bool SpaceRules::Evaluator::active(std::size_t parameter, std::span<const double> row) const {
  if (!compiled_) return true;
  const auto& condition = compiled_->conditions[parameter];
  return !condition || holds(*condition, row);
}

bool SpaceRules::Evaluator::feasible_at(std::size_t parameter, std::span<const double> row) const {
  if (!compiled_) return true;
  const auto& decided = compiled_->constraints_by_last[parameter];
  return std::ranges::all_of(decided, [&](std::size_t constraint) {
    return holds(compiled_->constraints[constraint], row);
  });
}

std::optional<std::size_t> SpaceRules::Evaluator::violated(std::span<const double> row) const {
  if (!compiled_) return std::nullopt;
  for (std::size_t i = 0; i < compiled_->constraints.size(); ++i) {
    if (!holds(compiled_->constraints[i], row)) return i;
  }
  return std::nullopt;
}

}  // namespace steptune
