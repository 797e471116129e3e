// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/numbers.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/scatter.hpp"

namespace steptune {

/// Scatter of the pairs of a comparison. All values are logarithms.
struct PairScatter {
  double pairs = 0.0;          ///< at least 1
  double squares = 0.0;        ///< squared deviations of the pairs' differences from their mean
  double sum_squares = k_nan;  ///< those of the sums of both runs; NaN: sums do not count
};

/// Posterior of the error of a mean log ratio of pairs of launches.
///
/// A pair's log ratio has the variance 2 s^2 + w. Here s is the standard deviation among launches
/// and w the variance within the runs. The posterior weighs values of the unknown s from 0.05 to
/// 300 %. The weights come from a prior, from the scatter among launches of the search, and from
/// the scatter among the pairs. The error of the mean is then a mixture of normal distributions
/// (Gelman et al., Bayesian Data Analysis, 3rd ed., sections 3.2 and 10.1: marginal posterior on a
/// grid).
///
/// The sum of a pair's two logarithms also depends on s. Its variance is the variance of the
/// difference, plus the variance of everything that slows both runs alike (blocks with random
/// effects: G. E. P. Box and G. C. Tiao, Bayesian Inference in Statistical Analysis, 1973, section
/// 5.2). On a quiet machine, the sums double the degrees of freedom. The ratio of the sum's
/// variance to the difference's variance is unknown. Its prior is 1 with probability 3/4, otherwise
/// log-uniform up to 1 000. Launches of both configurations are assumed to differ equally.
/// Otherwise sums and differences correlate, and the interval is too narrow.
class PairError {
 public:
  /// The prior of s is log-normal. Its median is 1.5 %, and two thirds of it lie between 0.43 and
  /// 5.2 %. On quiet servers, launches differ by 0.5 to 1.5 % (Kalibera and Jones 2013); on shared
  /// machines, by 7 to 12 %. Its tail is long, so a few launches that differ more outweigh it.
  /// `within_variance`: mean of the pairs' variances within their runs.
  PairError(const PairScatter& scatter, double within_variance, const KnownLaunches& known);

  /// Returns the posterior without a prior of s. Without sums and without `earlier` pairs, the
  /// posterior is Student's t. `earlier`: scatter of further pairs. `least_variance`: least
  /// variance of a pair, finite and above 0.
  [[nodiscard]] static PairError by_pairs(const PairScatter& scatter, const Scatter& earlier,
                                          double least_variance);

  /// Returns 1 / sqrt(p), where p is the posterior mean of the precision, 1 / variance. If the
  /// posterior of the variance were inverse chi-squared, this would be the usual standard error.
  [[nodiscard]] double standard_error() const;
  /// Returns the value that the error exceeds with probability `tail`, which is in (0, 0.5).
  [[nodiscard]] double quantile(double tail) const;

 private:
  struct Component {
    double weight = 0.0;
    double standard_error = 0.0;
  };
  explicit PairError(std::vector<Component> with_log_weights);

  std::vector<Component> components_;
};

}  // namespace steptune
