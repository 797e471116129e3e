// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/searchers/bayes/composition.hpp"
#include "search/searchers/bayes/learner.hpp"

namespace steptune::bayes {

/// Models of the parts of a training step, and of how much the objective differs from what they
/// compose to (a price, a start-up, what the parts leave out), all in logarithms.
struct CompositeModel {
  Composition composition = Composition::sum;
  std::vector<Model> parts;
  std::vector<Model> remainder;  ///< exactly one
};

/// Predictions of one objective, as targets of `transform()`.
class ObjectiveModel {
 public:
  explicit ObjectiveModel(Model plain) : weight_(plain.weight), transform_(plain.transform) {
    plain_.push_back(std::move(plain));
  }
  ObjectiveModel(CompositeModel composite, const OutputTransform& transform)
      : composite_(std::move(composite)), transform_(transform) {}

  [[nodiscard]] Posterior predict(const Matrix& features, std::size_t first,
                                  std::size_t last) const;
  [[nodiscard]] const OutputTransform& transform() const { return transform_; }
  /// How far it is to be believed beside others of the same objective.
  [[nodiscard]] double weight() const { return weight_; }
  /// Nothing: the objective is modelled as a whole.
  [[nodiscard]] std::optional<Composition> composition() const {
    return composite_ ? std::optional(composite_->composition) : std::nullopt;
  }

 private:
  std::vector<Model> plain_;  ///< one, or none where there is a composite
  std::optional<CompositeModel> composite_;
  double weight_ = 1.0;
  OutputTransform transform_;
};

/// Learns one objective: as a whole and, where every trial reports the same parts, from its parts
/// (Astudillo and Frazier 2019, "Bayesian optimization of composite functions"). Each part depends
/// on few parameters, so that it takes fewer trials to learn. Whichever predicts the trials better,
/// each from all others, is used.
class ObjectiveLearner {
 public:
  ObjectiveLearner(const FeatureGroups& groups, std::size_t dimensions, bool positive);

  void add(std::span<const double> features, double value, double standard_error,
           const std::map<std::string, double>& parts);
  [[nodiscard]] std::span<const double> values() const { return whole_.values(); }

  /// See `Learner::models`; a single one where the parts predict best.
  [[nodiscard]] std::vector<ObjectiveModel> models(const Matrix& pending, std::size_t most);

 private:
  void add_parts(std::span<const double> features, double value,
                 const std::map<std::string, double>& parts);
  [[nodiscard]] CompositeModel composite(Composition composition, const Matrix& pending);
  /// Mean log density of the values under the composite, each given all others.
  [[nodiscard]] double evidence(const CompositeModel& composite) const;

  FeatureGroups groups_;
  std::size_t dimensions_;
  Learner whole_;
  bool composable_;
  std::map<std::string, Learner> parts_;  ///< logarithms of the parts
  std::vector<Learner> remainders_;       ///< log of objective over composition, by Composition
};

}  // namespace steptune::bayes
