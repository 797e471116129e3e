// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/space/parameter.hpp"

namespace steptune {

/// Functions of one parameter; the parameter's effect is a sum of them. They have mean zero,
/// variance one and no correlation if values are drawn as the space draws them. (Each level, or
/// each factor of a logarithmic scale, is equally likely.) So the squares of an effect's
/// coefficients add up to its variance. Ordered parameters have polynomials; whole numbers from
/// zero also have a step between zero and one, because no workers differ from a few. Other
/// parameters have contrasts of the choices. Immutable.
class EffectBasis {
 public:
  /// Makes at most `most` functions; up to 8 for choices (none if `most` is 0). Makes fewer
  /// functions if the parameter has few values, and none if it has a single value.
  EffectBasis(const Parameter& parameter, std::size_t most);

  [[nodiscard]] std::size_t size() const { return degrees_.size(); }
  /// Roughness of each function, from 1.
  [[nodiscard]] double degree(std::size_t function) const { return degrees_[function]; }
  /// Writes the functions' values at a position (`Parameter::position_of`) to `out`, which has
  /// `size()` elements. If the parameter is inactive, all values are zero, because the parameter
  /// has no effect.
  void evaluate(double position, std::span<double> out) const;
  /// Positions that represent the parameter's values, ascending.
  [[nodiscard]] const std::vector<double>& nodes() const { return nodes_; }

 private:
  void add_nodes(const Parameter& parameter);
  /// Makes `values` (one for each node) uncorrelated to the earlier functions and adds them.
  /// Returns false if nothing is left.
  bool add(std::vector<double> values, double degree);
  [[nodiscard]] double mean_product(std::span<const double> a, std::span<const double> b) const;

  bool interpolated_ = true;
  std::vector<double> nodes_;
  std::vector<double> weights_;  ///< probability of each node; their sum is 1
  std::vector<double> degrees_;
  std::vector<std::vector<double>> functions_;  ///< values at the nodes
};

}  // namespace steptune
