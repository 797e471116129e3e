// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "search/searchers/bayes/feasibility_kernel.hpp"
#include "search/searchers/bayes/inverse_factor.hpp"

namespace steptune::bayes {

/// Gaussian process classifier with a probit likelihood, trained by assumed-density filtering. This
/// is one pass of expectation propagation in the order of the outcomes (Rasmussen and Williams
/// 2006, section 3.6). The time to learn a further outcome grows with the square of the number of
/// outcomes. Probabilities may be computed from several threads at once. Copies share most data
/// until one copy learns more.
class FeasibilityClassifier {
 public:
  /// `outcomes` has the outcome of each row. The classifier predicts the probability of true.
  FeasibilityClassifier(const Matrix& features, const std::vector<bool>& outcomes,
                        const FeatureGroups& groups, const FeasibilityKernel& kernel);

  /// Learns one more outcome. The prior mean does not change.
  void append(std::span<const double> features, bool outcome);

  /// Returns the logarithms of the probabilities that the outcomes at rows [first, last) are true.
  [[nodiscard]] std::vector<double> log_probabilities(const Matrix& features, std::size_t first,
                                                      std::size_t last) const;
  /// Returns upper bounds of `log_probabilities` at a much lower cost. Instead of each row's own
  /// variance, uses the variance that gives the highest probability.
  [[nodiscard]] std::vector<double> log_probability_bounds(const Matrix& features,
                                                           std::size_t first,
                                                           std::size_t last) const;

 private:
  /// Returns means of the latent function at rows [first, last) of `rows`. Leaves their covariances
  /// with the examples in `covariances`.
  [[nodiscard]] std::vector<double> latent_means(const Matrix& rows, std::size_t first,
                                                 std::size_t last, Matrix& covariances) const;
  /// Replaces the outcome by a measurement that gives the latent value the same mean and variance
  /// (section 3.6). Does not update `slopes_`.
  void learn(const Matrix& rows, std::size_t row, bool outcome);

  FeatureGroups groups_;
  FeasibilityKernel kernel_;
  double mean_;
  FeatureColumns features_;
  /// One value for each outcome: a noisy measurement of the latent function minus its prior mean.
  /// The measurement has the same effect as the outcome.
  std::vector<double> measurements_;
  std::vector<double> whitened_;  ///< the factor's inverse times measurements
  std::vector<double> slopes_;    ///< covariance^-1 measurements
  InverseFactor factor_;          ///< of covariances and noise
};

/// Learns the probability of one of two outcomes from examples that arrive one by one. The kernel
/// is fitted at growing numbers of examples. The classifier is rebuilt after each fit and learns
/// later outcomes one by one. The result depends only on the sequence of examples.
class FeasibilityLearner {
 public:
  /// Uses only the features of the first `dimensions` groups, because the other groups do not
  /// affect outcomes.
  FeasibilityLearner(const FeatureGroups& groups, std::size_t dimensions);

  void add(std::span<const double> features, bool outcome);
  [[nodiscard]] std::size_t size() const { return outcomes_.size(); }

  /// Returns a classifier for the probability that the outcome is true. Needs at least one example.
  [[nodiscard]] FeasibilityClassifier classifier();

 private:
  struct Conditioned {
    std::size_t built_from = 0;  ///< number of examples it was built from
    std::size_t examples = 0;    ///< number of examples built from and appended
    FeasibilityClassifier classifier;
  };

  void fit(std::size_t count);

  FeatureGroups groups_;
  Matrix features_;
  std::vector<bool> outcomes_;
  FeasibilityKernel kernel_;
  std::size_t fitted_to_ = 0;  ///< number of examples
  std::optional<Conditioned> conditioned_;
};

}  // namespace steptune::bayes
