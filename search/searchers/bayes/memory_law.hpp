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

/// Returns the sum of a row of terms, each times its coefficient.
[[nodiscard]] double sum_of_terms(std::span<const double> terms,
                                  std::span<const double> coefficients);

/// Returns each value divided by the sum that coefficients predict which are fitted to all other
/// values. 1: the other values predict it exactly.
[[nodiscard]] std::vector<double> left_out_ratios(const Matrix& terms,
                                                  std::span<const double> values);

}  // namespace steptune::bayes
