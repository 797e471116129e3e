// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/searchers/bayes/composite_learner.hpp"
#include "search/searchers/bayes/earlier_study.hpp"
#include "search/searchers/bayes/learner.hpp"

namespace steptune::bayes {

/// Of predictions: as they are, or no smaller than that, at a lower price where a model `bounds`.
enum class Variances { exact, bounded };

/// Predictions of one objective, as targets of `transform()`.
class ObjectiveModel {
 public:
  explicit ObjectiveModel(Model plain) : weight_(plain.weight), transform_(plain.transform) {
    plain_.push_back(std::move(plain));
  }
  ObjectiveModel(CompositeModel composite, const OutputTransform& transform, double weight)
      : composite_(std::move(composite)), weight_(weight), transform_(transform) {}
  ObjectiveModel(ShiftedModel shifted, const OutputTransform& transform)
      : shifted_(std::move(shifted)), transform_(transform) {}

  [[nodiscard]] Posterior predict(const Matrix& features, std::size_t first, std::size_t last,
                                  Variances variances = Variances::exact) const;
  /// Logarithms of the improvement over `best`, a target, to be expected of rows [first, last); no
  /// smaller with bounded variances.
  [[nodiscard]] std::vector<double> log_improvements(const Matrix& features, std::size_t first,
                                                     std::size_t last, double best,
                                                     Variances variances = Variances::exact) const;
  [[nodiscard]] bool bounds() const;
  [[nodiscard]] const OutputTransform& transform() const { return transform_; }
  /// The model of the objective as a whole; null where it is composed of parts.
  [[nodiscard]] const Model* plain() const { return plain_.empty() ? nullptr : &plain_[0]; }
  /// Takes it away; needs `plain`.
  [[nodiscard]] Model take_plain() && { return std::move(plain_[0]); }
  /// How far it is to be believed beside others of the same objective.
  [[nodiscard]] double weight() const { return weight_; }
  void set_weight(double weight) { weight_ = weight; }
  [[nodiscard]] bool rests_on_earlier_study() const { return shifted_.has_value(); }
  /// Nothing: the objective is modelled as a whole.
  [[nodiscard]] std::optional<Composition> composition() const {
    return composite_ ? std::optional(composite_->composition()) : std::nullopt;
  }

 private:
  friend class ObjectiveLearner;

  std::vector<Model> plain_;  ///< one, or none where there is one of the others
  std::optional<CompositeModel> composite_;
  std::optional<ShiftedModel> shifted_;
  double weight_ = 1.0;
  OutputTransform transform_;
};

/// Learns one objective: as a whole and, where every trial reports the same parts, from its parts.
/// How well each of these models predicts every trial from all others decides how far it is
/// believed. Earlier studies are believed as far as they predict, too.
class ObjectiveLearner {
 public:
  /// `scales`: by feature, see `FeatureMap`.
  ObjectiveLearner(const FeatureGroups& groups, std::vector<FeatureScale> scales,
                   std::size_t dimensions, bool positive);

  void add(std::span<const double> features, double value, double standard_error,
           const std::map<std::string, double>& parts);
  /// A trial of the earlier study with this number (from 0).
  void add_earlier(std::size_t study, std::span<const double> features, double value,
                   double standard_error);
  [[nodiscard]] bool knows_parts() const { return !part_names_.empty(); }
  [[nodiscard]] std::span<const double> values() const { return whole_.values(); }

  /// See `Learner::models`, likeliest first; beyond `most` up to three of the parts and one for
  /// every earlier study that is to be believed.
  [[nodiscard]] std::vector<ObjectiveModel> models(const Matrix& pending, std::size_t most);
  /// What improvement is measured from, for each example, as targets of `model`'s transform:
  /// values without their noise as far as that is known.
  [[nodiscard]] std::vector<double> targets(const ObjectiveModel& model) const;

 private:
  [[nodiscard]] bool reports_parts(double value, const std::map<std::string, double>& parts);
  /// Of the likeliest model of the objective as a whole; `most` as in `models`.
  [[nodiscard]] double evidence_of_whole(std::size_t most);
  /// Models of the objective as a whole, and on top of earlier studies.
  [[nodiscard]] std::vector<ObjectiveModel> models_without_parts(const Matrix& pending,
                                                                 std::size_t most);

  FeatureGroups groups_;
  std::size_t dimensions_;
  Learner whole_;
  bool positive_;
  bool composable_;
  std::vector<std::string> part_names_;
  CompositeLearner composite_;
  std::vector<EarlierStudy> earlier_;
};

}  // namespace steptune::bayes
