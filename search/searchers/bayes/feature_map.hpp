// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/searchers/bayes/gaussian_process.hpp"
#include "search/space/search_space.hpp"

namespace steptune::bayes {

/// Maps points of a search space to rows of features. The kernel uses the weighted squared distance
/// of two rows. For an ordered parameter, this distance is the squared difference of the positions.
/// For an unordered one, it is 0 for equal choices and 1 for different choices. An inactive
/// parameter counts as a further choice. If the parameter is ordered, this choice lies beside the
/// middle of the range, equally far from both ends. The last dimension is the fidelity of an
/// observation; 0 means a full trial.
class FeatureMap {
 public:
  explicit FeatureMap(const SearchSpace& space);

  /// Writes `width()` features. `fidelity` is the share of a full trial, in (0, 1].
  void write(std::span<const double> point, std::span<double> row, double fidelity = 1.0) const;
  /// Returns the point of a row that `write` made. A parameter with a single value has position 0.
  [[nodiscard]] Point point_of(std::span<const double> row) const;
  /// Returns rows for the points, which are concatenated in `points`.
  [[nodiscard]] Matrix rows(std::span<const double> points) const;
  [[nodiscard]] Matrix rows(std::span<const Point> points) const;

  [[nodiscard]] std::size_t width() const { return groups_.group_of_feature.size(); }
  /// Returns the dimensions: one for each parameter with a condition or more than one value, and
  /// one for the fidelity.
  [[nodiscard]] const FeatureGroups& groups() const { return groups_; }
  /// Returns the number of coordinates of a point.
  [[nodiscard]] std::size_t coordinates() const { return columns_.size(); }

 private:
  struct Column {
    std::size_t first = 0;  ///< index of its first feature
    std::size_t count = 0;  ///< number of features; 0 for a constant parameter
    bool unordered = false;
    bool conditional = false;
  };

  std::vector<Column> columns_;
  FeatureGroups groups_;
};

}  // namespace steptune::bayes
