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

/// The acquisition function: (log) expected improvement of one objective or expected hypervolume
/// improvement of two, averaged over an ensemble of models and weighted by feasibility. Immutable;
/// may be used from several threads at once.
class Acquisition {
 public:
  /// One or two objectives as one model of the ensemble has them.
  struct EnsembleMember {
    std::vector<ObjectiveModel> objectives;
    /// Targets of the feasible measured configurations, one inner vector per objective.
    std::vector<std::vector<double>> feasible_targets;
    double weight = 1.0;
  };
  struct Inputs {
    /// Empty before anything was measured.
    std::vector<EnsembleMember> ensemble;
    /// That a trial runs and respects the guards; nothing while none failed.
    std::optional<FeasibilityClassifier> feasibility;
    /// That a trial fits into memory, where that is told apart from other failures.
    std::optional<MemoryForecast> memory;
    /// Candidates less likely than this to be feasible come after all others.
    double feasibility_threshold = 0.0;
    /// Unless they promise far more.
    bool takes_risks = false;
  };

  explicit Acquisition(Inputs inputs);

  /// Logarithm of the worth of rows [first, last), written to `scores`.
  void score(const Matrix& features, std::size_t first, std::size_t last,
             std::span<double> scores) const {
    score(features, first, last, {}, scores);
  }
  /// The same at a lower price: what is not worth more than its own of `floors` (none: exact for
  /// all) may be minus infinity.
  void score(const Matrix& features, std::size_t first, std::size_t last,
             std::span<const double> floors, std::span<double> scores) const;

  /// Upper bounds of these scores, feasibility left out, where `bounds` at a fraction of the price;
  /// elsewhere it is not worth asking.
  void bound(const Matrix& features, std::size_t first, std::size_t last,
             std::span<double> bounds) const;
  [[nodiscard]] bool bounds() const;

  /// Expected improvement at one row as a share of the best so far, feasibility taken into account:
  /// of the objective, or of the dominated area where there are two. Nothing without a best.
  [[nodiscard]] std::optional<double> improvement_share(const Matrix& features,
                                                        std::size_t row) const;

 private:
  /// What improvement is measured from in one member.
  struct Goal {
    double best = 0.0;                                  ///< one objective
    std::optional<HypervolumeImprovement> hypervolume;  ///< two objectives
    std::optional<HypervolumeImprovement> thinned;      ///< bounds it from above
    double dominated_area = 0.0;
    /// Logarithm of the member's weight and of what its unit of improvement is worth.
    double log_worth = 0.0;
  };

  [[nodiscard]] static Goal goal_of(const EnsembleMember& member);
  /// Logarithms of the expected improvements at rows [first, last), of the whole ensemble; upper
  /// bounds of them with bounded variances.
  [[nodiscard]] std::vector<double> log_gains(const Matrix& features, std::size_t first,
                                              std::size_t last, Variances variances) const;
  /// Logarithm of what a gain is worth that is to be had with some probability; grows with both.
  [[nodiscard]] double worth(double log_gain, double log_feasibility) const;
  /// Logarithms of the probabilities that rows [first, last) are feasible.
  [[nodiscard]] std::vector<double> log_feasibilities(const Matrix& features, std::size_t first,
                                                      std::size_t last) const;

  Inputs inputs_;
  std::vector<Goal> goals_;  ///< by member; empty without a best
};

}  // namespace steptune::bayes
