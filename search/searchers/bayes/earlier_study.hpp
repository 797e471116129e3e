// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "search/searchers/bayes/learner.hpp"

namespace steptune::bayes {

/// Predicts an objective from the trials of another study. Immutable; thread-safe.
class EarlierModel {
 public:
  /// If `positive` is true, all values are positive and expectations are logarithms of values.
  EarlierModel(Model model, bool positive) : model_(std::move(model)), positive_(positive) {}

  /// Returns the expectations for rows [first, last).
  [[nodiscard]] std::vector<double> expectations(const Matrix& features, std::size_t first,
                                                 std::size_t last) const;
  /// Converts a value of the objective to the scale of the expectations.
  [[nodiscard]] double on_scale(double value) const;
  [[nodiscard]] bool positive() const { return positive_; }

 private:
  Model model_;
  bool positive_;
};

/// Expectation from another study, plus a model of this study's deviation from it.
struct ShiftedModel {
  std::shared_ptr<const EarlierModel> earlier;
  Model remainder;
  double evidence = 0.0;  ///< `evidence_of` this study's values
};

/// Learns one objective. The prior mean is another study's model, so this study's trials need to
/// show only the deviations from that model. The searcher also fits models that ignore the other
/// study. Each model's weight depends on how well it predicts each trial from all other trials.
/// Feurer, Letham, Hutter and Bakshy 2018, "Practical transfer learning for Bayesian optimization",
/// instead use how models rank trials.
class EarlierStudy {
 public:
  /// See `Learner`.
  EarlierStudy(const FeatureGroups& groups, std::size_t dimensions, bool positive);

  /// Adds a trial of the other study.
  void add(std::span<const double> features, double value, double standard_error);

  /// Returns the model for this study. `own` has its trials; `pending` is as in `Learner::models`.
  /// Returns nullopt if `own` is empty or the other study has too few trials. Also returns nullopt
  /// if all values of the other study are positive, but not all of `own`.
  [[nodiscard]] std::optional<ShiftedModel> shifted(const Learner& own, const Matrix& pending);

 private:
  [[nodiscard]] bool prepare(const Learner& own);

  FeatureGroups groups_;
  std::size_t dimensions_;
  Learner learner_;
  bool positive_;
  std::shared_ptr<const EarlierModel> model_;
  std::optional<Learner> remainder_;  ///< deviations of this study's trials, in their order
};

}  // namespace steptune::bayes
