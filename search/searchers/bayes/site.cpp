// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/site.hpp"

#include <algorithm>
#include <cmath>

#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

constexpr double k_least_variance = 1e-9;
constexpr double k_least_curvature = 1e-12;

}  // namespace

Site::Site(double mean, double variance, bool outcome) {
  const double left = std::max(variance, k_least_variance);
  const double sign = outcome ? 1.0 : -1.0;
  const double spread = std::sqrt(1.0 + left);
  const double z = sign * mean / spread;
  log_probability = log_normal_cdf(z);
  const double ratio = slope_of_log_cdf(z, log_probability);
  slope = sign * ratio / spread;
  curvature = std::max(ratio * (ratio + z), k_least_curvature) / (spread * spread);
}

}  // namespace steptune::bayes
