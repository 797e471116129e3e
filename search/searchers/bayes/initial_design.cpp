// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/initial_design.hpp"

#include <algorithm>

#include "search/searchers/sobol_points.hpp"

namespace steptune::bayes {

int InitialDesign::default_size() const {
  const auto varying = std::count_if(
      space_.parameters().begin(), space_.parameters().end(),
      [](const Parameter& parameter) { return parameter.level_count().value_or(2) > 1; });
  return std::clamp(static_cast<int>(varying) + 1, 4, 10);
}

std::optional<Point> InitialDesign::next(
    const std::function<bool(std::span<const double>)>& admissible) const {
  const std::size_t dimensions = space_.parameters().size();
  if (dimensions == 0) return std::nullopt;
  SobolPoints sequence(dimensions, seed_);
  constexpr int k_longest = 16'384;
  for (int i = 0; i < k_longest; ++i) {
    auto point = space_.point_at_quantiles(sequence.next());
    if (point && admissible(*point)) return point;
  }
  return std::nullopt;
}

}  // namespace steptune::bayes
