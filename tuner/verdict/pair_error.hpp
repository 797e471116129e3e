// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/verdict/launch_variation.hpp"

namespace steptune {

/// Posterior of the error of a mean log ratio of pairs of launches.
///
/// A pair's log ratio has the variance 2 s^2 + w. Here s is the standard deviation among launches
/// and w the variance within the runs. s is unknown: the posterior weighs values from 0.05 to 300 %
/// by the prior, by the scatter among launches of the search, and by the scatter among the pairs.
/// The error of the mean is then a mixture of normal distributions (Gelman et al., Bayesian Data
/// Analysis, 3rd ed., sections 3.2 and 10.1: marginal posterior on a grid).
///
/// The prior is log-normal. Its median is 1.5 %, and two thirds of it lie between 0.43 and 5.2 %:
/// on quiet servers launches differ by 0.5 to 1.5 % (Kalibera and Jones 2013), on shared machines
/// by 7 to 12 %. Its tail is long, so a few launches that differ more outweigh it.
class PairError {
 public:
  /// `squares`: sum of the pairs' squared deviations from their mean. `pairs` is at least 1.
  /// `within_variance`: mean of the pairs' variances within their runs.
  PairError(double squares, double pairs, double within_variance, const KnownLaunches& known);

  /// Returns the inverse root of the error's mean precision. If the posterior of the variance were
  /// inverse chi-squared, this would be the usual standard error.
  [[nodiscard]] double standard_error() const;
  /// Returns the value that the error exceeds with probability `tail`, which is in (0, 0.5).
  [[nodiscard]] double quantile(double tail) const;

 private:
  struct Component {
    double weight = 0.0;
    double standard_error = 0.0;
  };
  std::vector<Component> components_;
};

}  // namespace steptune
