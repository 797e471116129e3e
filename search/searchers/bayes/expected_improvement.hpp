// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

namespace steptune::bayes {

/// Normal distribution predicted for one objective at one point.
struct Normal {
  double mean = 0.0;
  double variance = 1.0;
};

/// Returns the logarithm of the expected improvement over `best` (smaller is better).
[[nodiscard]] double log_expected_improvement(const Normal& prediction, double best);

/// A pair of objective values, both to be minimised.
using Pair = std::array<double, 2>;

/// Returns the pairs that no other pair dominates, by ascending first value; equal pairs once.
[[nodiscard]] std::vector<Pair> pareto_front(const std::vector<Pair>& pairs);

/// Returns the area that `front` dominates below `reference`.
[[nodiscard]] double dominated_area(const std::vector<Pair>& front, const Pair& reference);

/// Returns a point that every useful pair should dominate. It lies halfway between the worst values
/// of the front and of `all`. Its distance from the front is at least a tenth of the range of
/// `all`. If the point were derived from the front alone, a short front would exclude all pairs
/// beyond it.
[[nodiscard]] Pair reference_point(const std::vector<Pair>& front, const std::vector<Pair>& all);

/// Exact expected hypervolume improvement for two independent objectives, computed in logarithms
/// (strips of Emmerich, Deutz and Klinkenberg 2011; logarithms as in Ament et al. 2023).
class HypervolumeImprovement {
 public:
  HypervolumeImprovement(const std::vector<Pair>& front, const Pair& reference);

  [[nodiscard]] double log_expected(const Normal& first, const Normal& second) const;

  /// Returns the improvement over only `most` pairs of the front, evenly spaced. The result costs
  /// less to evaluate, and is never smaller than the improvement over all pairs.
  [[nodiscard]] HypervolumeImprovement thinned(std::size_t most) const;

 private:
  std::vector<Pair> front_;  ///< only pairs that dominate the reference
  Pair reference_;
};

}  // namespace steptune::bayes
