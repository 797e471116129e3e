// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "search/searcher.hpp"
#include "search/searchers/bayes/feature_map.hpp"

namespace steptune::bayes {

/// Returns the terms of a study's memory law for a row of features, the constant 1 first. May be
/// called from several threads. Empty: the study declares no terms.
using MemoryTerms = std::function<std::vector<double>(std::span<const double> features)>;

/// Returns the terms for rows of `feature_map`. A negative term, or one without a value, counts as
/// 0. `space` must outlive the result.
[[nodiscard]] MemoryTerms memory_terms(const SearchSpace& space, const FeatureMap& feature_map,
                                       const std::vector<MemoryTerm>& terms);

}  // namespace steptune::bayes
