// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "common/rng.hpp"
#include "search/searchers/bayes/feature_map.hpp"
#include "search/space/search_space.hpp"

namespace steptune::bayes {

/// Points with their features, one row each.
struct Candidates {
  std::vector<double> points;
  Matrix features;

  [[nodiscard]] std::size_t size() const { return features.rows(); }
  [[nodiscard]] std::span<const double> point(std::size_t row) const {
    const std::size_t width = points.size() / features.rows();
    return std::span<const double>(points).subspan(row * width, width);
  }
};

/// Points with which the search for the best candidate starts: all points of the space if there are
/// few enough, otherwise random points.
class CandidatePool {
 public:
  CandidatePool(const SearchSpace& space, const FeatureMap& features);

  /// Returns every point of the space; null if there are more than `k_listed`, or if a parameter is
  /// continuous.
  [[nodiscard]] const Candidates* all() const { return all_ ? &*all_ : nullptr; }

  /// Draws `count` points: uniformly from `all` if it is not null, otherwise each parameter
  /// uniformly. Returns fewer points if many violate constraints.
  [[nodiscard]] Candidates draw(Rng& rng, std::size_t count) const;

  /// Most points that are listed, so that all can be scored for one suggestion.
  static constexpr std::size_t k_listed = 20'000;

 private:
  const SearchSpace& space_;
  const FeatureMap& feature_map_;
  std::optional<Candidates> all_;
};

}  // namespace steptune::bayes
