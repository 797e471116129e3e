// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "search/observation.hpp"
#include "search/searchers/bayes/expected_improvement.hpp"
#include "search/searchers/bayes/feature_map.hpp"
#include "search/searchers/bayes/learner.hpp"

namespace steptune::bayes {

/// Trials are looked at whenever their fidelity has grown by this.
inline constexpr double k_stage_ratio = 2.0;

/// A value on a trial's learning curve, as an example to learn from.
struct CurvePoint {
  double fidelity = 1.0;  ///< in (0, 1]
  double value = 0.0;     ///< of the first objective
  double standard_error = 0.0;
};

/// The milestones at rising fidelities that have a finite value. Standard errors are doubled but
/// for the last one: the last value rests on all that those before it rest on, and as so many
/// measurements of their own they would seem to have averaged out the noise of one trial.
[[nodiscard]] std::vector<CurvePoint> learning_curve_of(std::span<const Milestone> milestones);

/// Predicts the values of full trials from learning curves: Gaussian processes over configurations
/// and fidelities together (as MOBSTER has one; Klein et al. 2020, arXiv 2003.10865), weighted.
class LearningCurveModel {
 public:
  /// `models` are at least one, the first of highest weight, weights adding up to 1; trials may be
  /// stopped from `least_fidelity` on. `feature_map` outlives the object.
  LearningCurveModel(const FeatureMap& feature_map, std::vector<Model> models,
                     double least_fidelity);

  /// What all predictions are targets of.
  [[nodiscard]] const OutputTransform& transform() const { return models_[0].transform; }
  /// Of a full trial of each point: mean and variance of the mixture.
  [[nodiscard]] std::vector<Normal> full(std::span<const Point> points) const;
  [[nodiscard]] Normal full(const Point& point) const { return full(std::span(&point, 1))[0]; }
  /// Conditions on a value of a running trial. False, and nothing is learned, where that is beyond
  /// all that is known: of no logarithm, or far from all other values.
  [[nodiscard]] bool learn(const Point& point, const CurvePoint& at);
  /// `log_stopping_rate` over the target `best` of a trial that has reached a fidelity (0: has not
  /// begun) and for which `paid` of a full trial's price need not be paid any more.
  [[nodiscard]] double log_stopping_rate(const Point& point, double best, double reached,
                                         double paid) const;

 private:
  /// A target of one of the models as a target of `transform`.
  [[nodiscard]] Normal translated(const Model& model, const Normal& target) const;
  [[nodiscard]] Matrix row_of(const Point& point, double fidelity) const;

  const FeatureMap* feature_map_;
  std::vector<Model> models_;
  double least_fidelity_;
};

}  // namespace steptune::bayes
