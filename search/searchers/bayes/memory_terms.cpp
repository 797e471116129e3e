// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/memory_terms.hpp"

#include <algorithm>
#include <cmath>

namespace steptune::bayes {

MemoryTerms memory_terms(const SearchSpace& space, const FeatureMap& feature_map,
                         const std::vector<MemoryTerm>& terms) {
  if (terms.empty()) return {};
  return [&space, feature_map, terms](std::span<const double> features) {
    const Configuration configuration = space.decode(feature_map.point_of(features));
    std::vector<double> values{1.0};
    for (const MemoryTerm& term : terms) {
      const double value = term(configuration);
      values.push_back(std::isfinite(value) ? std::max(0.0, value) : 0.0);
    }
    return values;
  };
}

}  // namespace steptune::bayes
