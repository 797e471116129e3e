// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/quantiles.hpp"

#include <algorithm>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "common/interval.hpp"

namespace steptune {

double student_quantile(double freedom, double tail) {
  const boost::math::students_t distribution(std::max(1.0, freedom));
  return boost::math::quantile(boost::math::complement(distribution, tail));
}

double student_quantile_95(double freedom) {
  return student_quantile(freedom, 0.5 * k_error_95);
}

double poisson_upper_95(double count) {
  const boost::math::chi_squared distribution(2.0 * count + 2.0);
  return 0.5 * boost::math::quantile(boost::math::complement(distribution, 0.5 * k_error_95));
}

double gamma_mean_upper_95(double shape) {
  const boost::math::chi_squared distribution(2.0 * shape);
  return 2.0 * shape / boost::math::quantile(distribution, 0.5 * k_error_95);
}

double variance_ratio_quantile(double upper, double lower, double tail) {
  const boost::math::fisher_f distribution(upper, lower);
  return boost::math::quantile(boost::math::complement(distribution, tail));
}

double chi_squared_quantile(double freedom, double below) {
  return boost::math::quantile(boost::math::chi_squared(freedom), below);
}

}  // namespace steptune
