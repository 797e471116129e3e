// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "search/searchers/bayes/bayes_searcher.hpp"

namespace steptune::bayes {

struct BayesSearcher::Outlook {
  explicit Outlook(const FeatureMap& map) : feature_map(map) {}

  const FeatureMap& feature_map;
  /// What is believed, the likeliest first, with weights that add up to 1.
  std::vector<Model> models;
  double best = 0.0;            ///< target that improvement is measured from
  double least_fidelity = 1.0;  ///< the first at which a trial may be stopped

  /// What all figures here are targets of.
  [[nodiscard]] const OutputTransform& transform() const { return models[0].transform; }
  /// What is believed of a full trial of each point.
  [[nodiscard]] std::vector<Normal> full(std::span<const Point> points) const;
  [[nodiscard]] Normal full(const Point& point) const { return full(std::span(&point, 1))[0]; }
  /// Learns what a trial of `point` has come to on its way. False, and nothing is learned, where
  /// that is beyond all that is known: of no logarithm, or far from all other values.
  [[nodiscard]] bool learn(const Point& point, const WayPoint& at);
  /// See `log_improvement_rate`: of a trial that has reached a fidelity (0: has not begun) and for
  /// which `paid` of a full trial's price need not be paid any more.
  [[nodiscard]] double log_rate(const Point& point, double reached, double paid) const;

 private:
  /// A target of one of the models as a target of `transform`.
  [[nodiscard]] Normal translated(const Model& model, const Normal& target) const;
  [[nodiscard]] Matrix row_of(const Point& point, double fidelity) const;
};

}  // namespace steptune::bayes
