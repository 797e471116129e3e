// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// Returns non-negative coefficients of the columns of `terms`, such that the sums of the rows come
/// as near to `values` as possible. Minimises the squares of relative errors. All terms must be
/// non-negative, and all values positive.
[[nodiscard]] std::vector<double> fit_non_negative(const Matrix& terms,
                                                   std::span<const double> values);

/// Returns the sum of a row of terms, each times its coefficient, and never 0.
[[nodiscard]] double sum_of_terms(std::span<const double> terms,
                                  std::span<const double> coefficients);

/// Fits coefficients to all values but one, and divides that value by the sum that they predict.
/// Returns this ratio for each value, limited to 1/1000 and 1000. 1: predicted exactly.
[[nodiscard]] std::vector<double> left_out_ratios(const Matrix& terms,
                                                  std::span<const double> values);

}  // namespace steptune::bayes
