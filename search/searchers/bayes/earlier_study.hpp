// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "search/searchers/bayes/learner.hpp"

namespace steptune::bayes {

/// What another study expects of an objective. Immutable; may be used from several threads at once.
class EarlierModel {
 public:
  /// `positive`: values are positive, expectations are logarithms.
  EarlierModel(Model model, bool positive) : model_(std::move(model)), positive_(positive) {}

  /// For rows [first, last).
  [[nodiscard]] std::vector<double> expectations(const Matrix& features, std::size_t first,
                                                 std::size_t last) const;
  /// A value of the objective on the scale of the expectations.
  [[nodiscard]] double on_scale(double value) const;
  [[nodiscard]] bool positive() const { return positive_; }

 private:
  Model model_;
  bool positive_;
};

/// The expectation of another study, and a model of how far this study's values are from it.
struct ShiftedModel {
  std::shared_ptr<const EarlierModel> earlier;
  Model remainder;
  double evidence = 0.0;  ///< as `evidence_of`, of this study's values
};

/// Learns one objective with the trials of another study as prior mean: what that study explains
/// leaves little for this one's trials to explain. Whether it is to be believed is for its evidence
/// to say, beside that of models without it (Feurer, Letham, Hutter and Bakshy 2018, "Practical
/// transfer learning for Bayesian optimization", weigh such models by how they rank; here their
/// predictions of the trials count, each made without that trial).
class EarlierStudy {
 public:
  /// See `Learner`.
  EarlierStudy(const FeatureGroups& groups, std::size_t dimensions, bool positive);

  /// A trial of that study.
  void add(std::span<const double> features, double value, double standard_error);

  /// What this study, whose trials are in `own`, is to expect; `pending` as in `Learner::models`.
  /// Nothing with too few trials of the other study, or where logarithms do not apply to both.
  [[nodiscard]] std::optional<ShiftedModel> shifted(const Learner& own, const Matrix& pending);

 private:
  [[nodiscard]] bool prepare(const Learner& own);

  FeatureGroups groups_;
  std::size_t dimensions_;
  Learner learner_;
  bool positive_;
  std::shared_ptr<const EarlierModel> model_;
  std::optional<Learner> remainder_;  ///< of this study's trials, in their order
};

}  // namespace steptune::bayes
