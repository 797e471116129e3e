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

/// What a search for the best candidate is allowed and asked to do.
struct CandidateSearch {
  const SearchSpace& space;
  const FeatureMap& feature_map;
  const CandidatePool& pool;
  const Acquisition& acquisition;
  /// May this point be suggested at all?
  std::function<bool(std::span<const double>)> admissible;
  /// Logarithm of the price of trying a point; empty where all cost the same.
  std::function<double(std::span<const double>)> log_price;
  /// Good observed points, best first: their surroundings are looked at too.
  std::vector<Point> promising;
  std::size_t examples =
      0;  ///< that the acquisition rests on; decides what an exhaustive search costs
  int threads = 1;
  /// Leave out candidates that cannot be the best; the result is the same up to rounding.
  bool prune = true;
};

struct BestCandidate {
  Point point;
  double score = 0.0;
};

/// The admissible point of the highest worth: exact where the whole space can be scored in
/// milliseconds, otherwise the best of random points and surroundings of promising ones, improved
/// by exchanging one coordinate at a time. Nothing if no admissible point was met. The result does
/// not depend on the number of threads.
[[nodiscard]] std::optional<BestCandidate> find_best_candidate(const CandidateSearch& search,
                                                               Rng& rng);

}  // namespace steptune::bayes
