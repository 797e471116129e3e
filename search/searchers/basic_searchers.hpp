// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "search/searcher.hpp"

namespace steptune {

/// Uniform by parameter, without repetition; the draw is keyed by the trial's number.
[[nodiscard]] std::unique_ptr<Searcher> make_random_searcher(const SearchSpace& space,
                                                             const SearcherOptions& options);

/// The points of a shifted Sobol sequence in order, less those that violate constraints or have
/// been tried; at random once the sequence keeps hitting tried ones.
[[nodiscard]] std::unique_ptr<Searcher> make_sobol_searcher(const SearchSpace& space,
                                                            const SearcherOptions& options);

/// Levels that `grid` gives a continuous parameter: the ends and three evenly between them.
inline constexpr int k_grid_levels = 5;
/// Configurations that `grid` may have.
inline constexpr std::uint64_t k_grid_limit = 1'000'000;

/// Every configuration of the space, continuous parameters at `k_grid_levels` positions, in an
/// order shuffled by the seed, so that a budget smaller than the grid still sees all of the space.
/// Fails for more than `k_grid_limit`.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_grid_searcher(const SearchSpace& space,
                                                                   const SearcherOptions& options);

/// Gaussian process and expected improvement (docs/algorithms/bayes.md). Fails for no objective and
/// for more than two.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_bayes_searcher(const SearchSpace& space,
                                                                    const SearcherOptions& options);

/// Looks for the knee of the scaling curve (`search/scaling/scaling_law.hpp`) with few trials: the
/// least count first, twice as many while further machines pay, then, within the knee's interval,
/// where the laws leave most open; nothing once a trial would tell less than it errs, nor beside a
/// trial that runs, whose result chooses the next count. Other parameters stay as in the best trial
/// at the nearest count. Fails without `options.scaling`, and where its parameter has values below
/// 1 or more than 4096.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_scaling_searcher(
    const SearchSpace& space, const SearcherOptions& options);

}  // namespace steptune
