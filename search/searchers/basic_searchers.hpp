// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "search/searcher.hpp"

namespace steptune {

/// Draws each parameter uniformly; never suggests a configuration twice. The random numbers depend
/// on the trial's number.
[[nodiscard]] std::unique_ptr<Searcher> make_random_searcher(const SearchSpace& space,
                                                             const SearcherOptions& options);

/// Takes the points of a shifted Sobol sequence in order, except those that violate constraints or
/// have been tried. Draws random configurations once the sequence yields only tried points.
[[nodiscard]] std::unique_ptr<Searcher> make_sobol_searcher(const SearchSpace& space,
                                                            const SearcherOptions& options);

/// Number of values that `grid` tries for a continuous parameter: both ends, and three evenly
/// between them.
inline constexpr int k_grid_levels = 5;

/// Tries every configuration of the space, with `k_grid_levels` values for each continuous
/// parameter. The seed shuffles the order, so that a budget smaller than the grid still covers the
/// whole space. Fails for more than `k_most_enumerated` configurations. If a parameter is
/// continuous, configurations that violate constraints count, too.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_grid_searcher(const SearchSpace& space,
                                                                   const SearcherOptions& options);

/// Gaussian process with expected improvement (docs/algorithms/bayes.md). Fails unless there are
/// one or two objectives.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_bayes_searcher(const SearchSpace& space,
                                                                    const SearcherOptions& options);

/// Searches for the knee of the scaling curve (`search/scaling/scaling_law.hpp`) with few trials.
/// First tries the smallest number of machines (count), then doubles it as long as further machines
/// are worth their price. Then tries the count within the knee's interval at which the predicted
/// time is least certain. Stops if a further trial's error would exceed that uncertainty. Suggests
/// nothing while a trial runs, because its result decides the next count; only the second trial may
/// start while the first runs. The other parameters have their values in the best trial at the
/// nearest count. Fails without `options.scaling`, and if the counting parameter does not exist,
/// has values below 1, or has more than 4096 values.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_scaling_searcher(
    const SearchSpace& space, const SearcherOptions& options);

}  // namespace steptune
