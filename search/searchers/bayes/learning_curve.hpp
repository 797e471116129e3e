// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "search/observation.hpp"
#include "search/searchers/bayes/expected_improvement.hpp"
#include "search/searchers/bayes/feature_map.hpp"
#include "search/searchers/bayes/learner.hpp"

namespace steptune::bayes {

/// A value on a trial's learning curve, used as an example.
struct CurvePoint {
  double fidelity = 1.0;  ///< in (0, 1]
  double value = 0.0;     ///< of the first objective
  double standard_error = 0.0;
};

/// Returns the milestones that have a finite value, in order of fidelity. Doubles all standard
/// errors but the last, because values are not independent: each includes the measurements of all
/// earlier ones. With smaller errors, several values of one trial would seem to average out its
/// noise.
[[nodiscard]] std::vector<CurvePoint> learning_curve_of(std::span<const Milestone> milestones);

/// Predicts values of full trials from learning curves: weighted Gaussian processes over
/// configurations and fidelities together (as in MOBSTER; Klein et al. 2020, arXiv 2003.10865).
class LearningCurveModel {
 public:
  /// `models` has at least one model; the first has the highest weight, and weights add up to 1.
  /// `least_fidelity` is the first fidelity at which trials may be stopped. `feature_map` must
  /// outlive the object.
  LearningCurveModel(const FeatureMap& feature_map, std::vector<Model> models,
                     double least_fidelity);

  /// Returns the transform that defines the scale of all predictions: they are its targets.
  [[nodiscard]] const OutputTransform& transform() const { return models_[0].transform; }
  /// Predicts full trials: mean and variance of the mixture for each point.
  [[nodiscard]] std::vector<Normal> full(std::span<const Point> points) const;
  [[nodiscard]] Normal full(const Point& point) const { return full(std::span(&point, 1))[0]; }
  /// Adds a value of a running trial. Returns false and learns nothing if a model cannot represent
  /// the value: it has no logarithm, or is extremely far from all other values.
  [[nodiscard]] bool learn(const Point& point, const CurvePoint& at);
  /// Returns `log_stopping_rate` with respect to the target `best`, for a trial that has reached
  /// the fidelity `reached` (0: not started). `paid` is the share of a full trial's price that is
  /// already paid.
  [[nodiscard]] double log_stopping_rate(const Point& point, double best, double reached,
                                         double paid) const;

 private:
  /// Converts a target of one of the models into a target of `transform`.
  [[nodiscard]] Normal translated(const Model& model, const Normal& target) const;
  [[nodiscard]] Matrix row_of(const Point& point, double fidelity) const;

  const FeatureMap* feature_map_;
  std::vector<Model> models_;
  double least_fidelity_;
};

}  // namespace steptune::bayes
