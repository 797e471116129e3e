// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/output_transform.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {

OutputTransform::OutputTransform(Warp warp, std::span<const double> values) : warp_(warp) {
  std::vector<double> warped;
  double largest = std::numeric_limits<double>::min();
  for (const double value : values) {
    warped.push_back(warp == Warp::log ? std::log(value) : value);
    largest = std::max(largest, std::abs(warped.back()));
  }
  if (warped.empty()) return;
  // Divide by the largest value, so that sums of squares neither overflow nor underflow.
  const double count = static_cast<double>(warped.size());
  double mean = 0.0;
  for (const double value : warped)
    mean += value / largest / count;
  double variance = 0.0;
  for (const double value : warped) {
    const double deviation = value / largest - mean;
    variance += deviation * deviation / count;
  }
  centre_ = mean * largest;
  const double deviation = std::sqrt(variance);
  if (deviation > 1e-12) {
    scale_ = deviation * largest;
  } else {
    scale_ = warp == Warp::log || centre_ == 0.0 ? 1.0 : std::abs(centre_);
  }
  scale_ = std::max(scale_, std::numeric_limits<double>::min());
}

double OutputTransform::forward(double value) const {
  return ((warp_ == Warp::log ? std::log(value) : value) - centre_) / scale_;
}

double OutputTransform::backward(double target) const {
  const double warped = centre_ + scale_ * target;
  return warp_ == Warp::log ? std::exp(warped) : warped;
}

double OutputTransform::noise_variance(double value, double standard_error) const {
  double relative = standard_error / scale_;
  if (warp_ == Warp::log) relative /= value;
  return std::isfinite(relative) ? std::min(relative * relative, 1e6) : 1e6;
}

double OutputTransform::log_jacobian(double value) const {
  // log p(y) = log p(t) + log |dt / dy| (warped Gaussian processes: Snelson et al. 2003).
  return -std::log(scale_) - (warp_ == Warp::log ? std::log(value) : 0.0);
}

double OutputTransform::improvement_share(double best, double mean, double variance) const {
  const double deviation = std::sqrt(variance);
  if (warp_ == Warp::none) {
    const double value = std::abs(backward(best));
    const double improvement =
        scale_ * deviation * std::exp(log_improvement((best - mean) / deviation));
    return value > 0.0 ? std::min(improvement / value, 1e6) : (improvement > 0.0 ? 1e6 : 0.0);
  }
  // E[max(1 - exp(s), 0)] for a normal s, the logarithm of the ratio to the best.
  const double m = scale_ * (mean - best);
  const double s = scale_ * deviation;
  const double share = normal_cdf(-m / s) - std::exp(m + 0.5 * s * s + log_normal_cdf(-m / s - s));
  return std::clamp(share, 0.0, 1.0);
}

}  // namespace steptune::bayes
