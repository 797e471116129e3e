// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/searchers/bayes/hyperparameters.hpp"
#include "search/searchers/bayes/inverse_factor.hpp"
#include "search/searchers/bayes/kernel.hpp"
#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// Training data of a Gaussian process: features, standardised targets, and the known variance of
/// each target's noise (0 if unknown).
struct TrainingSet {
  Matrix features;
  std::vector<double> targets;
  std::vector<double> noise_variances;

  [[nodiscard]] std::size_t size() const { return targets.size(); }
};

/// Predictive distribution at each of several new points, ignoring correlations between them.
/// Includes the variation that the features do not explain, but not the known noise of
/// measurements.
struct Posterior {
  std::vector<double> means;
  std::vector<double> variances;
};

struct Fit {
  Hyperparameters hyperparameters;
  double negative_log_posterior = 0.0;
};

/// Returns the most probable hyperparameters given data and prior (maximum a posteriori). Starts
/// from `start` and evaluates the likelihood at most `max_evaluations` times. Never fails: returns
/// `start` if it finds nothing better.
[[nodiscard]] Fit fit_hyperparameters(const TrainingSet& training, const FeatureGroups& groups,
                                      const Prior& prior, const Hyperparameters& start,
                                      int max_evaluations);

/// Returns the negative logarithm of the posterior density that `fit_hyperparameters` maximises,
/// and its gradient. Infinite if the covariance cannot be factorised.
[[nodiscard]] double negative_log_posterior(const TrainingSet& training,
                                            const FeatureGroups& groups, const Prior& prior,
                                            std::span<const double> flat_hyperparameters,
                                            std::span<double> gradient);

/// Zero-mean Gaussian process with a mixture of a joint and an additive Matern-5/2 kernel
/// (`Kernel`). Predicts as in Rasmussen and Williams 2006, algorithm 2.1. `predict` may be called
/// from several threads at once. Copies share most data until one copy learns more.
class GaussianProcess {
 public:
  /// Factorises the covariance; adds jitter to the diagonal as needed.
  GaussianProcess(const TrainingSet& training, const FeatureGroups& groups,
                  const Hyperparameters& hyperparameters);

  /// Adds examples. Predictions are then the same, up to rounding, as those of a process built from
  /// all examples. The time for each example grows with the square of `size`.
  void append(const TrainingSet& further);
  /// Replaces the targets, one for each row of features.
  void set_targets(std::vector<double> targets);
  [[nodiscard]] std::size_t size() const { return targets_.size(); }

  /// Predicts rows [first, last) of `features`.
  [[nodiscard]] Posterior predict(const Matrix& features, std::size_t first,
                                  std::size_t last) const;
  /// Returns the means of `predict`, and upper bounds of its variances, which use only part of the
  /// examples. Costs much less than `predict` if there are many examples. If there are few,
  /// variances are exact.
  [[nodiscard]] Posterior bound(const Matrix& features, std::size_t first, std::size_t last) const;
  /// From this many examples on, predictions are expensive, so fewer or cheaper ones are made.
  static constexpr std::size_t k_many_examples = 128;
  [[nodiscard]] Posterior predict(const Matrix& features) const {
    return predict(features, 0, features.rows());
  }
  /// Mean and variance (with its noise) of each target given all other targets (Rasmussen and
  /// Williams 2006, eq. 5.12). Also has the log density of each standardised target.
  struct LeaveOneOut {
    Posterior posterior;
    std::vector<double> log_densities;
  };
  [[nodiscard]] LeaveOneOut leave_one_out() const;
  /// Returns the expected value of each target without its known noise, given all targets.
  [[nodiscard]] std::vector<double> noise_free_targets() const;

 private:
  [[nodiscard]] Posterior predict(const Matrix& features, std::size_t first, std::size_t last,
                                  std::size_t known) const;

  FeatureGroups groups_;
  Kernel kernel_;
  double floor_;  ///< variance that the features do not explain
  FeatureColumns features_;
  std::vector<double> targets_;
  std::vector<double> noise_variances_;  ///< known noise variance of each target
  InverseFactor factor_;
  std::vector<double> weights_;  ///< covariance^-1 targets
};

}  // namespace steptune::bayes
