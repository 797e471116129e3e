// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/searchers/bayes/gaussian_process.hpp"
#include "search/space/search_space.hpp"

namespace steptune::bayes {

/// Points of a search space as rows of features whose weighted squared distance is the one that the
/// kernel wants: the squared difference of positions for ordered parameters, 0 or 1 for equal or
/// different choices of unordered ones. An inactive parameter is a choice of its own; for ordered
/// ones it lies beside the middle of the range, so that it is equally far from both ends.
/// A last dimension carries the fidelity of an observation: 0 for a full trial.
class FeatureMap {
 public:
  explicit FeatureMap(const SearchSpace& space);

  /// Writes `width()` features. `fidelity` is the share of a full trial, in (0, 1].
  void write(std::span<const double> point, std::span<double> row, double fidelity = 1.0) const;
  /// Rows for points that follow each other in `points`.
  [[nodiscard]] Matrix rows(std::span<const double> points) const;
  [[nodiscard]] Matrix rows(std::span<const Point> points) const;

  [[nodiscard]] std::size_t width() const { return groups_.group_of_feature.size(); }
  /// One dimension per parameter with more than one value, and one for fidelity.
  [[nodiscard]] const FeatureGroups& groups() const { return groups_; }
  /// Number of coordinates of a point.
  [[nodiscard]] std::size_t coordinates() const { return columns_.size(); }

 private:
  struct Column {
    std::size_t first = 0;  ///< feature
    std::size_t count = 0;  ///< features; 0 for a parameter with a single value
    bool unordered = false;
    bool conditional = false;
  };

  std::vector<Column> columns_;
  FeatureGroups groups_;
};

}  // namespace steptune::bayes
