// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "search/searchers/bayes/expected_improvement.hpp"
#include "search/searchers/bayes/feasibility_classifier.hpp"
#include "search/searchers/bayes/memory_model.hpp"
#include "search/searchers/bayes/objective_learner.hpp"

namespace steptune::bayes {

/// The acquisition function, whose values are the scores of candidates. It is the logarithm of the
/// expected improvement; with two objectives, of the expected hypervolume improvement. The
/// improvement is averaged over an ensemble of models and weighted by feasibility. Immutable;
/// thread-safe.
class Acquisition {
 public:
  /// One model of the ensemble, with one or two objectives.
  struct EnsembleMember {
    std::vector<ObjectiveModel> objectives;
    /// Targets from which improvement is measured, one inner vector for each objective. They are
    /// the targets of complete, feasible trials. If there are no such trials, they are the targets
    /// that stopped trials are expected to reach.
    std::vector<std::vector<double>> feasible_targets;
    double weight = 1.0;
  };
  struct Inputs {
    /// Empty before the first measurement.
    std::vector<EnsembleMember> ensemble;
    /// Probability that a trial runs and meets the guards; nullopt before the first failure. If
    /// `memory` is set, the classifier ignores trials that ran out of memory.
    std::optional<FeasibilityClassifier> feasibility;
    /// Probability that a trial fits into memory, if this is modelled apart from other failures.
    std::optional<MemoryForecast> memory;
    /// Candidates with a lower probability of being feasible rank after all other candidates.
    double feasibility_threshold = 0.0;
    /// If true, a candidate below `feasibility_threshold` may still rank high if its expected
    /// improvement is far larger.
    bool takes_risks = false;
  };

  explicit Acquisition(Inputs inputs);

  /// Writes the scores of rows [first, last) to `scores`. If no feasible trial is known, a score is
  /// the logarithm of the probability of being feasible.
  void score(const Matrix& features, std::size_t first, std::size_t last,
             std::span<double> scores) const {
    score(features, first, last, {}, scores);
  }
  /// Computes the scores at a lower cost. `floors` contains for each row the score that the row
  /// must exceed to be of interest. If a row does not exceed its floor, its score may be minus
  /// infinity. If `floors` is empty, all scores are exact.
  void score(const Matrix& features, std::size_t first, std::size_t last,
             std::span<const double> floors, std::span<double> scores) const;

  /// Writes upper bounds of the scores to `bounds`; they ignore feasibility. If
  /// `has_cheap_bounds()` is true, bounds cost less than scores; otherwise they are of no use.
  void bound(const Matrix& features, std::size_t first, std::size_t last,
             std::span<double> bounds) const;
  [[nodiscard]] bool has_cheap_bounds() const;

  /// Returns the expected improvement at one row as a share of the best value so far, times the
  /// probability of being feasible. With two objectives, it is a share of the dominated area.
  /// nullopt if no feasible trial is known.
  [[nodiscard]] std::optional<double> improvement_share(const Matrix& features,
                                                        std::size_t row) const;

 private:
  /// Reference for improvement under one model.
  struct Goal {
    double best = 0.0;  ///< best target so far; used with one objective
    std::optional<HypervolumeImprovement> hypervolume;  ///< set with two objectives
    /// Upper bound of `hypervolume`, cheaper to compute.
    std::optional<HypervolumeImprovement> thinned;
    double dominated_area = 0.0;
    /// Logarithm of the factor of this model's improvements in the ensemble's mean. With one
    /// objective, the factor is the model's weight times one unit of its targets as a share of the
    /// best value. With two objectives, it is the weight times the product of both shares.
    double log_factor = 0.0;
  };

  [[nodiscard]] static Goal goal_of(const EnsembleMember& member);
  /// Returns the logarithms of the ensemble's expected improvements at rows [first, last). With
  /// `Variances::bounded`, returns upper bounds.
  [[nodiscard]] std::vector<double> log_gains(const Matrix& features, std::size_t first,
                                              std::size_t last, Variances variances) const;
  /// Returns the score of a candidate with this expected improvement (`log_gain`) and this
  /// probability of being feasible. Grows with both.
  [[nodiscard]] double score_of(double log_gain, double log_feasibility) const;
  /// Returns the logarithms of the probabilities that rows [first, last) are feasible.
  [[nodiscard]] std::vector<double> log_feasibilities(const Matrix& features, std::size_t first,
                                                      std::size_t last) const;

  Inputs inputs_;
  std::vector<Goal> goals_;  ///< one for each model; empty if no feasible trial is known
};

}  // namespace steptune::bayes
