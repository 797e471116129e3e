// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "common/rng.hpp"
#include "search/searchers/bayes/acquisition.hpp"
#include "search/searchers/bayes/candidate_pool.hpp"

namespace steptune::bayes {

/// Settings of a search for the best candidate.
struct CandidateSearch {
  const SearchSpace& space;
  const FeatureMap& feature_map;
  const CandidatePool& pool;
  const Acquisition& acquisition;
  /// True if the point may be suggested.
  std::function<bool(std::span<const double>)> admissible;
  /// Logarithm of the price of trying a point; empty if all prices are equal.
  std::function<double(std::span<const double>)> log_price;
  /// Good observed points, best first; the search also starts near these.
  std::vector<Point> promising;
  /// Number of trials that the acquisition uses. The cost of scoring a candidate grows with it.
  std::size_t examples = 0;
  int threads = 1;
  /// True: skip candidates that cannot be the best. The result is the same up to rounding.
  bool prune = true;
};

struct BestCandidate {
  Point point;
  double score = 0.0;
};

/// Returns the admissible point with the highest score minus log price. If the whole space can be
/// scored in some tens of milliseconds, the result is exact. Otherwise, starts from the best few of
/// random points and of points near the promising ones, and improves them one coordinate at a time.
/// If an ordered parameter is continuous or has more than 64 levels, then refines the ordered
/// parameters by small random steps. Returns nullopt if no admissible point was found. The result
/// does not depend on the number of threads.
[[nodiscard]] std::optional<BestCandidate> find_best_candidate(const CandidateSearch& search,
                                                               Rng& rng);

}  // namespace steptune::bayes
