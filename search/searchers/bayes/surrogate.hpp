// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "search/searchers/bayes/acquisition.hpp"
#include "search/searchers/bayes/objective_learner.hpp"

namespace steptune::bayes {

/// What the searcher believes at the moment of one suggestion, and what a candidate is worth by it.
/// Immutable; may be used from several threads at once.
class Surrogate {
 public:
  struct Parts {
    /// One or two; empty before anything was measured.
    std::vector<ObjectiveModel> objectives;
    /// Of 1 for trials that ran and respected the guards and 0 for others; nothing while none
    /// failed.
    std::optional<Model> feasibility;
    /// Targets of the feasible measured configurations, one inner vector per objective.
    std::vector<std::vector<double>> feasible_targets;
    /// Candidates less likely than this to be feasible come after all others.
    double feasibility_threshold = 0.0;
  };

  explicit Surrogate(Parts parts);

  /// Logarithm of the worth of rows [first, last), written to `scores`.
  void score(const Matrix& features, std::size_t first, std::size_t last,
             std::span<double> scores) const;

  /// Expected improvement at one row as a share of the best so far, feasibility taken into account:
  /// of the objective, or of the dominated area where there are two. Nothing without a best.
  [[nodiscard]] std::optional<double> improvement_share(const Matrix& features,
                                                        std::size_t row) const;

 private:
  [[nodiscard]] std::vector<double> log_feasibilities(const Matrix& features, std::size_t first,
                                                      std::size_t last) const;

  Parts parts_;
  double best_ = 0.0;                                  ///< one objective
  std::optional<HypervolumeImprovement> hypervolume_;  ///< two objectives
  double dominated_area_ = 0.0;
  bool has_best_ = false;
};

}  // namespace steptune::bayes
