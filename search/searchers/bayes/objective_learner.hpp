// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "search/searchers/bayes/earlier_study.hpp"
#include "search/searchers/bayes/learner.hpp"

namespace steptune::bayes {

/// Whether predicted variances are exact, or upper bounds that cost less where a model `bounds`.
enum class Variances { exact, bounded };

/// Predictions of one objective, as targets of `transform()`.
class ObjectiveModel {
 public:
  explicit ObjectiveModel(Model plain) : weight_(plain.weight), transform_(plain.transform) {
    plain_.push_back(std::move(plain));
  }
  ObjectiveModel(ShiftedModel shifted, const OutputTransform& transform)
      : shifted_(std::move(shifted)), transform_(transform) {}

  [[nodiscard]] Posterior predict(const Matrix& features, std::size_t first, std::size_t last,
                                  Variances variances = Variances::exact) const;
  [[nodiscard]] bool bounds() const;
  [[nodiscard]] const OutputTransform& transform() const { return transform_; }
  /// The model without an earlier study as its prior mean; null where there is one.
  [[nodiscard]] const Model* plain() const { return plain_.empty() ? nullptr : &plain_[0]; }
  /// Takes it away; needs `plain`.
  [[nodiscard]] Model take_plain() && { return std::move(plain_[0]); }
  /// Posterior weight beside the other models of the same objective.
  [[nodiscard]] double weight() const { return weight_; }
  void set_weight(double weight) { weight_ = weight; }
  [[nodiscard]] bool rests_on_earlier_study() const { return shifted_.has_value(); }

 private:
  std::vector<Model> plain_;  ///< one, or none where there is `shifted_`
  std::optional<ShiftedModel> shifted_;
  double weight_ = 1.0;
  OutputTransform transform_;
};

/// Learns one objective from the trials of this study and, as far as they predict it, from earlier
/// studies: models are weighted by how well each predicts every trial from all others.
class ObjectiveLearner {
 public:
  /// See `Learner`.
  ObjectiveLearner(const FeatureGroups& groups, std::size_t dimensions, bool positive);

  void add(std::span<const double> features, double value, double standard_error);
  /// A trial of the earlier study with this number (from 0).
  void add_earlier(std::size_t study, std::span<const double> features, double value,
                   double standard_error);
  [[nodiscard]] std::span<const double> values() const { return own_.values(); }

  /// See `Learner::models`, the one of highest weight first; beyond `most` one for every earlier
  /// study that is worth its weight.
  [[nodiscard]] std::vector<ObjectiveModel> models(const Matrix& pending, std::size_t most);
  /// What improvement is measured from, for each example, as targets of `model`'s transform:
  /// values without their noise as far as that is known.
  [[nodiscard]] std::vector<double> targets(const ObjectiveModel& model) const;

 private:
  FeatureGroups groups_;
  std::size_t dimensions_;
  Learner own_;
  bool positive_;
  std::vector<EarlierStudy> earlier_;
};

}  // namespace steptune::bayes
