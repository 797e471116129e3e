// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "search/searchers/bayes/earlier_study.hpp"
#include "search/searchers/bayes/learner.hpp"

namespace steptune::bayes {

/// Kind of predicted variances: exact, or upper bounds. Bounds cost less if the model
/// `has_cheap_bounds`; otherwise they are exact.
enum class Variances { exact, bounded };

/// Predicts one objective. Predictions are targets, that is, values converted by `transform()`.
class ObjectiveModel {
 public:
  explicit ObjectiveModel(Model plain) : weight_(plain.weight), transform_(plain.transform) {
    plain_.push_back(std::move(plain));
  }
  ObjectiveModel(ShiftedModel shifted, const OutputTransform& transform)
      : shifted_(std::move(shifted)), transform_(transform) {}

  [[nodiscard]] Posterior predict(const Matrix& features, std::size_t first, std::size_t last,
                                  Variances variances = Variances::exact) const;
  /// True if bounded variances cost less than exact ones.
  [[nodiscard]] bool has_cheap_bounds() const;
  [[nodiscard]] const OutputTransform& transform() const { return transform_; }
  /// Returns the model if it does not use an earlier study as prior mean; otherwise null.
  [[nodiscard]] const Model* plain() const { return plain_.empty() ? nullptr : &plain_[0]; }
  /// Returns the model of `plain` and leaves this object empty. `plain` must not be null.
  [[nodiscard]] Model take_plain() && { return std::move(plain_[0]); }
  /// Weight relative to the other models of the same objective.
  [[nodiscard]] double weight() const { return weight_; }
  void set_weight(double weight) { weight_ = weight; }

 private:
  std::vector<Model> plain_;  ///< one, or none if `shifted_` is set
  std::optional<ShiftedModel> shifted_;
  double weight_ = 1.0;
  OutputTransform transform_;
};

/// Learns one objective from this study's trials and, as far as they predict it, from earlier
/// studies. Models are weighted by how well each predicts every trial from all others.
class ObjectiveLearner {
 public:
  /// See `Learner`.
  ObjectiveLearner(const FeatureGroups& groups, std::size_t dimensions, bool positive);

  void add(std::span<const double> features, double value, double standard_error);
  /// Adds a trial of the earlier study number `study` (from 0).
  void add_earlier(std::size_t study, std::span<const double> features, double value,
                   double standard_error);
  [[nodiscard]] std::span<const double> values() const { return own_.values(); }

  /// Returns up to `most` models of this study as `Learner::models` does, and one for each earlier
  /// study. Leaves out models of negligible weight. The first has the highest weight.
  [[nodiscard]] std::vector<ObjectiveModel> models(const Matrix& pending, std::size_t most);
  /// Returns the examples' values as targets of `model`'s transform. Improvement is measured from
  /// these. Removes known noise, unless `model` uses an earlier study or there are many examples.
  [[nodiscard]] std::vector<double> targets(const ObjectiveModel& model) const;

 private:
  FeatureGroups groups_;
  std::size_t dimensions_;
  Learner own_;
  bool positive_;
  std::vector<EarlierStudy> earlier_;
};

}  // namespace steptune::bayes
