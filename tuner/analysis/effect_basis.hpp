// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/space/parameter.hpp"

namespace steptune {

/// Most functions of one parameter. They bound the columns of the regression of effects, and so its
/// computing time.
inline constexpr std::size_t k_most_main_functions = 8;

/// Functions of one parameter; the parameter's effect is a sum of them. They have mean zero,
/// variance one and no correlation, if values are drawn as the space draws them. All levels are
/// then equally likely, or all factors on a logarithmic scale. So the squares of an effect's
/// coefficients add up to its variance. For ordered parameters, the functions are polynomials.
/// Whole numbers from zero also have a step between zero and one: zero workers act differently from
/// a few workers. For other parameters, the functions are contrasts of the choices. Immutable.
class EffectBasis {
 public:
  /// Makes at most `most` functions. For unordered choices, makes up to `k_most_main_functions`
  /// even if `most` is smaller, but none if `most` is 0. Makes fewer functions if the parameter has
  /// few values, and none if it has a single value.
  EffectBasis(const Parameter& parameter, std::size_t most);

  [[nodiscard]] std::size_t size() const { return degrees_.size(); }
  /// Roughness of a function, at least 1: the degree of a polynomial.
  [[nodiscard]] double degree(std::size_t function) const { return degrees_[function]; }
  /// Writes the functions' values at a position (`Parameter::position_of`) to `out`, which has
  /// `size()` elements. If the parameter is inactive, all values are zero, because the parameter
  /// has no effect.
  void evaluate(double position, std::span<double> out) const;
  /// Positions that represent the parameter's values, ascending.
  [[nodiscard]] const std::vector<double>& nodes() const { return nodes_; }

 private:
  void add_nodes(const Parameter& parameter);
  /// Adds a function with these values at the nodes, after making it uncorrelated to the earlier
  /// functions. Returns false and adds nothing if the earlier functions already express it.
  bool add(std::vector<double> values, double degree);
  [[nodiscard]] double mean_product(std::span<const double> a, std::span<const double> b) const;

  bool interpolated_ = true;
  std::vector<double> nodes_;
  std::vector<double> weights_;  ///< probability of each node; their sum is 1
  std::vector<double> degrees_;
  std::vector<std::vector<double>> functions_;  ///< values at the nodes
};

}  // namespace steptune
