// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/searchers/bayes/composition.hpp"
#include "search/searchers/bayes/earlier_study.hpp"
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
  ObjectiveModel(ShiftedModel shifted, const OutputTransform& transform)
      : shifted_(std::move(shifted)), transform_(transform) {}

  [[nodiscard]] Posterior predict(const Matrix& features, std::size_t first,
                                  std::size_t last) const;
  /// The same means, and variances that are no smaller, at a lower price where `bounds`; exact
  /// elsewhere.
  [[nodiscard]] Posterior bound(const Matrix& features, std::size_t first, std::size_t last) const;
  [[nodiscard]] bool bounds() const;
  [[nodiscard]] const OutputTransform& transform() const { return transform_; }
  /// Targets of `values`, all that were learned from, in order: without their noise as far as that
  /// is known.
  [[nodiscard]] std::vector<double> targets(std::span<const double> values) const;
  /// How far it is to be believed beside others of the same objective.
  [[nodiscard]] double weight() const { return weight_; }
  void set_weight(double weight) { weight_ = weight; }
  [[nodiscard]] bool rests_on_earlier_study() const { return shifted_.has_value(); }
  /// Nothing: the objective is modelled as a whole.
  [[nodiscard]] std::optional<Composition> composition() const {
    return composite_ ? std::optional(composite_->composition) : std::nullopt;
  }

 private:
  std::vector<Model> plain_;  ///< one, or none where there is one of the others
  std::optional<CompositeModel> composite_;
  std::optional<ShiftedModel> shifted_;
  double weight_ = 1.0;
  OutputTransform transform_;
};

/// Learns one objective: as a whole and, where every trial reports the same parts, from its parts
/// (Astudillo and Frazier 2019, "Bayesian optimization of composite functions"). Each part depends
/// on few parameters, so that it takes fewer trials to learn. Whichever predicts the trials better,
/// each from all others, is used. Earlier studies are believed as far as they predict, too.
class ObjectiveLearner {
 public:
  ObjectiveLearner(const FeatureGroups& groups, std::size_t dimensions, bool positive);

  void add(std::span<const double> features, double value, double standard_error,
           const std::map<std::string, double>& parts);
  /// A trial of the earlier study with this number (from 0).
  void add_earlier(std::size_t study, std::span<const double> features, double value,
                   double standard_error);
  [[nodiscard]] std::span<const double> values() const { return whole_.values(); }

  /// See `Learner::models`, likeliest first; a single one where the parts predict best, and beyond
  /// `most` one for every earlier study that is to be believed.
  [[nodiscard]] std::vector<ObjectiveModel> models(const Matrix& pending, std::size_t most);

 private:
  void add_parts(std::span<const double> features, double value,
                 const std::map<std::string, double>& parts);
  /// Models of the objective as a whole, and on top of earlier studies.
  [[nodiscard]] std::vector<ObjectiveModel> models_without_parts(const Matrix& pending,
                                                                 std::size_t most);
  [[nodiscard]] CompositeModel composite(Composition composition, const Matrix& pending);
  /// Mean log density of the values under the composite, each given all others.
  [[nodiscard]] double evidence(const CompositeModel& composite) const;

  FeatureGroups groups_;
  std::size_t dimensions_;
  Learner whole_;
  bool positive_;
  bool composable_;
  std::map<std::string, Learner> parts_;  ///< logarithms of the parts
  std::vector<Learner> remainders_;       ///< log of objective over composition, by Composition
  std::vector<EarlierStudy> earlier_;
};

}  // namespace steptune::bayes
