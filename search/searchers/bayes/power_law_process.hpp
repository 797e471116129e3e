// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "search/searchers/bayes/gaussian_process.hpp"
#include "search/searchers/bayes/kernel.hpp"
#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// Hyperparameters of a `PowerLawProcess`; all natural logarithms.
struct PowerLawHyperparameters {
  std::vector<double> log_slopes;        ///< per dimension: variance of the exponent
  std::vector<double> log_lengthscales;  ///< per dimension: of the deviation
  double log_amplitude = 0.0;            ///< variance of the deviation from the power law
  double log_noise = 0.0;                ///< variance of what neither explains
};

/// Gaussian process of the logarithm of a time whose features are logarithms, too, as far as they
/// have one: a power law with a normal exponent per dimension (a linear kernel) plus a smooth
/// deviation of all dimensions together (Matern 5/2). Most of what a computer does is proportional
/// to some power of some parameters and indifferent to the others: a prior that says so learns
/// them, and continues them beyond what was measured, from a handful of trials.
/// Targets are natural logarithms, centred. Immutable; `predict` may be called from several threads
/// at once.
class PowerLawProcess {
 public:
  PowerLawProcess(const TrainingSet& training, const FeatureGroups& groups,
                  const PowerLawHyperparameters& hyperparameters);
  PowerLawProcess(PowerLawProcess&&) noexcept;
  PowerLawProcess& operator=(PowerLawProcess&&) noexcept;
  ~PowerLawProcess();

  /// The most probable hyperparameters (maximum a posteriori). Never fails: see
  /// `fit_hyperparameters`.
  [[nodiscard]] static PowerLawHyperparameters fit(const TrainingSet& training,
                                                   const FeatureGroups& groups,
                                                   int max_evaluations);

  /// For rows [first, last) of `features`, each by itself; without noise that is known.
  [[nodiscard]] Posterior predict(const Matrix& features, std::size_t first,
                                  std::size_t last) const;
  /// Mean and variance (its noise included) of each target given all the others.
  [[nodiscard]] Posterior leave_one_out() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The logarithm of the posterior density that `PowerLawProcess::fit` maximises, with its gradient,
/// negated, at slopes, lengthscales, amplitude and noise in this order; infinite where the
/// covariance cannot be factorised.
[[nodiscard]] double negative_log_posterior(const TrainingSet& training,
                                            const FeatureGroups& groups,
                                            std::span<const double> flat_hyperparameters,
                                            std::span<double> gradient);

}  // namespace steptune::bayes
