// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/space/parameter.hpp"

namespace steptune {

/// Functions of one parameter of which its effect is a sum. They have mean zero and variance one
/// and are uncorrelated where the parameter's values are drawn as the space draws them (each level,
/// or each factor of a logarithmic scale, alike), so the squares of an effect's coefficients add up
/// to its variance. Ordered parameters: polynomials, and for whole numbers from zero a step between
/// zero and one (no workers at all are another program than few). Others: contrasts of the choices.
/// Immutable.
class EffectBasis {
 public:
  /// At most `most` functions, of choices up to 8 in any case (none if `most` is 0); fewer where
  /// the parameter has few values, none where it has one.
  EffectBasis(const Parameter& parameter, std::size_t most);

  [[nodiscard]] std::size_t size() const { return degrees_.size(); }
  /// How rough each function is, from 1.
  [[nodiscard]] double degree(std::size_t function) const { return degrees_[function]; }
  /// The functions at a position (`Parameter::position_of`); all zero where the parameter is
  /// inactive, since any of its values would do there. `out` has `size()` places.
  void evaluate(double position, std::span<double> out) const;
  /// Positions that stand for the parameter's values, rising.
  [[nodiscard]] const std::vector<double>& nodes() const { return nodes_; }

 private:
  void add_nodes(const Parameter& parameter);
  /// Makes `values` (one per node) uncorrelated to the functions before; false if nothing is left.
  bool add(std::vector<double> values, double degree);
  [[nodiscard]] double mean_product(std::span<const double> a, std::span<const double> b) const;

  bool interpolated_ = true;
  std::vector<double> nodes_;
  std::vector<double> weights_;  ///< chance of each node; their sum is 1
  std::vector<double> degrees_;
  std::vector<std::vector<double>> functions_;  ///< values at the nodes
};

}  // namespace steptune
