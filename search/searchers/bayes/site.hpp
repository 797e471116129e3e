// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune::bayes {

/// What one outcome of probability cdf(latent value) says about the latent value, which is normal
/// before (Rasmussen and Williams 2006, section 3.6): the mean of anything rises by its covariance
/// with the latent value times `slope`, its variance falls by the square of that covariance times
/// `curvature`.
struct Site {
  Site(double mean, double variance, bool outcome);

  double log_probability = 0.0;  ///< of the outcome
  double slope = 0.0;
  double curvature = 0.0;
};

}  // namespace steptune::bayes
