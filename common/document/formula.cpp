// SPDX-License-Identifier: Apache-2.0
#include "common/document/formula.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace steptune::document {

Formula Formula::constant(double value, std::string text) {
  return {std::move(text), [value](const Configuration&) { return value; }};
}

bool Formula::holds(const Configuration& configuration) const {
  const double value = evaluate(configuration);
  return value != 0.0 && !std::isnan(value);
}

void check_positive(const std::optional<Formula>& formula, const std::string& pointer,
                    std::span<const Configuration> configurations, Faults& faults) {
  if (!formula) return;
  for (const Configuration& configuration : configurations) {
    const double value = formula->evaluate(configuration);
    if (value > 0.0 && value < 1e300) continue;
    faults.add(pointer, fmt::format("must be positive, but \"{}\" is {} for {}", formula->text(),
                                    value, configuration.text()));
    return;
  }
}

}  // namespace steptune::document
