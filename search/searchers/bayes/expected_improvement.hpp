// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

namespace steptune::bayes {

/// A value of a normal variable, as predicted for one objective at one point.
struct Normal {
  double mean = 0.0;
  double variance = 1.0;
};

/// Logarithm of the expected improvement over `best` (smaller is better).
[[nodiscard]] double log_expected_improvement(const Normal& prediction, double best);

/// A pair of objective values, both to be minimised.
using Pair = std::array<double, 2>;

/// The pairs that no other one dominates, by ascending first value; of equal ones one.
[[nodiscard]] std::vector<Pair> pareto_front(const std::vector<Pair>& pairs);

/// Area that `front` dominates below `reference`.
[[nodiscard]] double dominated_area(const std::vector<Pair>& front, const Pair& reference);

/// A point that every useful pair should dominate: halfway between the front's worst values and the
/// worst of `all`, at least a tenth of the range of `all` beyond the front. Taken from the front
/// alone, it would shut out everything beyond a front that is still short.
[[nodiscard]] Pair reference_point(const std::vector<Pair>& front, const std::vector<Pair>& all);

/// Exact expected hypervolume improvement for two independent objectives, in logarithms throughout
/// (strips of Emmerich, Deutz and Klinkenberg 2011; logarithms as in Ament et al. 2023).
class HypervolumeImprovement {
 public:
  HypervolumeImprovement(const std::vector<Pair>& front, const Pair& reference);

  [[nodiscard]] double log_expected(const Normal& first, const Normal& second) const;

  /// Improvement over `most` pairs of the front at even distances: never less than over all of
  /// them, and cheaper.
  [[nodiscard]] HypervolumeImprovement thinned(std::size_t most) const;

 private:
  std::vector<Pair> front_;  ///< only pairs that dominate the reference
  Pair reference_;
};

}  // namespace steptune::bayes
