// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "search/searchers/bayes/hyperparameters.hpp"
#include "search/searchers/bayes/kernel.hpp"
#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// What a Gaussian process learns from: standardised targets, and the variance of each target's
/// own noise where it is known (0 elsewhere).
struct TrainingSet {
  Matrix features;
  std::vector<double> targets;
  std::vector<double> noise_variances;

  [[nodiscard]] std::size_t size() const { return targets.size(); }
};

/// Predictive distribution at points that were never measured, independently of each other: what
/// the features do not explain is part of it, known noise of measurements is not.
struct Posterior {
  std::vector<double> means;
  std::vector<double> variances;
};

struct Fit {
  Hyperparameters hyperparameters;
  double negative_log_posterior = 0.0;
};

/// The most probable hyperparameters given data and prior (maximum a posteriori), from `start`,
/// with at most `max_evaluations` of the likelihood. Never fails: where nothing better than `start`
/// can be computed the answer is `start`.
[[nodiscard]] Fit fit_hyperparameters(const TrainingSet& training, const FeatureGroups& groups,
                                      const Prior& prior, const Hyperparameters& start,
                                      int max_evaluations);

/// The logarithm of the posterior density that `fit_hyperparameters` maximises, with its gradient,
/// negated; infinite where the covariance cannot be factorised.
[[nodiscard]] double negative_log_posterior(const TrainingSet& training,
                                            const FeatureGroups& groups, const Prior& prior,
                                            std::span<const double> flat_hyperparameters,
                                            std::span<double> gradient);

/// Zero-mean Gaussian process with an ARD Matern-5/2 kernel over a weighted squared distance
/// (Rasmussen and Williams 2006, algorithm 2.1). `predict` may be called from several threads at
/// once. Copies share most of what they know until one of them learns more.
class GaussianProcess {
 public:
  /// Factorises the covariance, with more jitter on the diagonal as far as needed.
  GaussianProcess(const TrainingSet& training, const FeatureGroups& groups,
                  const Hyperparameters& hyperparameters);
  GaussianProcess(const GaussianProcess& other);
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(const GaussianProcess&) = delete;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;
  ~GaussianProcess();

  /// Conditions on further examples: up to rounding what a process built from all of them is, at
  /// the cost of one square of the size for each.
  void append(const TrainingSet& further);
  /// Other targets for the same features, one for each.
  void set_targets(std::vector<double> targets);
  [[nodiscard]] std::size_t size() const;

  /// For rows [first, last) of `features`.
  [[nodiscard]] Posterior predict(const Matrix& features, std::size_t first,
                                  std::size_t last) const;
  /// The same means, and variances given a part of the examples alone: upper bounds, at a fraction
  /// of the price from `k_worth_bounding` examples on, and exact below.
  [[nodiscard]] Posterior bound(const Matrix& features, std::size_t first, std::size_t last) const;
  static constexpr std::size_t k_worth_bounding = 128;
  [[nodiscard]] Posterior predict(const Matrix& features) const {
    return predict(features, 0, features.rows());
  }
  /// Mean and variance (its noise included) of each target given all the others (Rasmussen and
  /// Williams 2006, eq. 5.12), and the resulting log density of each standardised target.
  struct LeaveOneOut {
    Posterior posterior;
    std::vector<double> log_densities;
  };
  [[nodiscard]] LeaveOneOut leave_one_out() const;
  /// The targets with their own known noise averaged out: what each is expected to be without it,
  /// given all of them.
  [[nodiscard]] std::vector<double> noise_free_targets() const;

 private:
  struct State;
  [[nodiscard]] Posterior predict(const Matrix& features, std::size_t first, std::size_t last,
                                  std::size_t known) const;

  std::unique_ptr<State> state_;
};

}  // namespace steptune::bayes
