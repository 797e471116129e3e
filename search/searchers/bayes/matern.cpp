// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/matern.hpp"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
// glibc has vector variants of exp, but declares them only in builds that relax all arithmetic.
extern "C" __attribute__((simd("notinbranch"))) double exp(double) noexcept;
#define STEPTUNE_BY_VECTOR_UNIT __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STEPTUNE_BY_VECTOR_UNIT
#endif

namespace steptune::bayes {

STEPTUNE_BY_VECTOR_UNIT
void add_squared_differences(double value, std::span<const double> others, double weight,
                             std::span<double> squared_distances) {
  const double* const __restrict other = others.data();
  double* const __restrict sum = squared_distances.data();
  const std::size_t count = others.size();
  for (std::size_t p = 0; p < count; ++p) {
    const double difference = value - other[p];
    sum[p] += weight * difference * difference;
  }
}

STEPTUNE_BY_VECTOR_UNIT
void matern52(std::span<const double> squared_distances, std::span<double> covariances) {
  // (1 + a + a^2 / 3) exp(-a), a = sqrt(5) r (Rasmussen and Williams 2006, eq. 4.17).
  const double* const __restrict distance = squared_distances.data();
  double* const __restrict covariance = covariances.data();
  const std::size_t count = squared_distances.size();
  for (std::size_t p = 0; p < count; ++p) {
    const double square = 5.0 * distance[p];
    const double scaled = std::sqrt(square);
    covariance[p] = (1.0 + scaled + square * (1.0 / 3.0)) * exp(-scaled);
  }
}

STEPTUNE_BY_VECTOR_UNIT
void matern52_with_slopes(std::span<double> squared_distances, std::span<double> slopes) {
  // The derivative with respect to r^2 is -5/6 (1 + a) exp(-a).
  double* const __restrict value = squared_distances.data();
  double* const __restrict slope = slopes.data();
  const std::size_t count = squared_distances.size();
  for (std::size_t p = 0; p < count; ++p) {
    const double square = 5.0 * value[p];
    const double scaled = std::sqrt(square);
    const double decay = exp(-scaled);
    slope[p] = -5.0 / 6.0 * (1.0 + scaled) * decay;
    value[p] = (1.0 + scaled + square * (1.0 / 3.0)) * decay;
  }
}

STEPTUNE_BY_VECTOR_UNIT
void mixed_covariances(const KernelMixture& mixture, std::span<const double* const> distances,
                       std::span<const double* const> additive, std::span<double> covariances) {
  // Additive kernel of Duvenaud, Nickisch and Rasmussen (2011), orders D and 1.
  for (std::size_t begin = 0; begin < covariances.size(); begin += k_points_at_once) {
    const std::size_t count = std::min(k_points_at_once, covariances.size() - begin);
    double square[k_points_at_once] = {};
    double sum[k_points_at_once] = {};
    for (const double* from : distances) {
      const double* const __restrict distance = from + begin;
      for (std::size_t p = 0; p < count; ++p)
        square[p] += distance[p];
    }
    for (const double* from : additive) {
      const double* const __restrict covariance = from + begin;
      for (std::size_t p = 0; p < count; ++p)
        sum[p] += covariance[p];
    }
    double* const __restrict result = covariances.data() + begin;
    for (std::size_t p = 0; p < count; ++p) {
      const double five = 5.0 * square[p];
      const double scaled = std::sqrt(five);
      const double joint = (1.0 + scaled + five * (1.0 / 3.0)) * exp(-scaled);
      result[p] = mixture.joint * joint + mixture.each * sum[p];
    }
  }
}

STEPTUNE_BY_VECTOR_UNIT
void interaction_covariances(double amplitude, std::span<const double* const> by_dimension,
                             std::span<double> covariances) {
  // Additive kernel of Duvenaud, Nickisch and Rasmussen (2011), orders D and 2. The sum over pairs
  // uses the Newton-Girard formula, 2 e_2 = s_1^2 - s_2.
  const auto dimensions = static_cast<double>(by_dimension.size());
  const bool pairs = by_dimension.size() > 1;
  const double joint = amplitude * (pairs ? 0.5 : 1.0);
  const double pair = pairs ? 0.5 * amplitude / (dimensions * (dimensions - 1.0)) : 0.0;
  for (std::size_t begin = 0; begin < covariances.size(); begin += k_points_at_once) {
    const std::size_t count = std::min(k_points_at_once, covariances.size() - begin);
    double sum[k_points_at_once] = {};
    double squares[k_points_at_once] = {};
    double product[k_points_at_once];
    std::fill_n(product, count, 1.0);
    for (const double* from : by_dimension) {
      const double* const __restrict covariance = from + begin;
      for (std::size_t p = 0; p < count; ++p) {
        sum[p] += covariance[p];
        squares[p] += covariance[p] * covariance[p];
        product[p] *= covariance[p];
      }
    }
    double* const __restrict result = covariances.data() + begin;
    for (std::size_t p = 0; p < count; ++p)
      result[p] = joint * product[p] + pair * (sum[p] * sum[p] - squares[p]);
  }
}

}  // namespace steptune::bayes
