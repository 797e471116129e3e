// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/memory_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace steptune::bayes {
namespace {

constexpr int k_most_sweeps = 2000;
constexpr double k_converged = 1e-10;
// Limit of left-out ratios. If only the left-out trial shows a term, the other trials predict too
// little for it.
constexpr double k_largest_ratio = 1e3;

/// Normal equations of the relative errors: gradient = products * coefficients - sums.
struct NormalEquations {
  explicit NormalEquations(std::size_t terms) : products(terms, terms), sums(terms, 0.0) {}

  /// Adds (`sign` 1) or removes (-1) an example.
  void add(std::span<const double> terms, double value, double sign) {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      sums[i] += sign * terms[i] / value;
      for (std::size_t j = 0; j < terms.size(); ++j)
        products(i, j) += sign * terms[i] * terms[j] / (value * value);
    }
  }

  /// Minimises along one coefficient after the other, each at least 0.
  [[nodiscard]] std::vector<double> solve() const {
    std::vector<double> coefficients(sums.size(), 0.0);
    for (int sweep = 0; sweep < k_most_sweeps; ++sweep) {
      double largest = 0.0;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        if (!(products(i, i) > 0.0)) continue;
        const std::span<const double> row = products.row(i);
        const double gradient =
            std::inner_product(row.begin(), row.end(), coefficients.begin(), -sums[i]);
        const double better = std::max(0.0, coefficients[i] - gradient / products(i, i));
        const double change = std::abs(better - coefficients[i]) * std::sqrt(products(i, i));
        largest = std::max(largest, change);
        coefficients[i] = better;
      }
      if (largest < k_converged) break;
    }
    return coefficients;
  }

  Matrix products;
  std::vector<double> sums;
};

NormalEquations equations_of(const Matrix& terms, std::span<const double> values) {
  NormalEquations equations(terms.cols());
  for (std::size_t i = 0; i < values.size(); ++i)
    equations.add(terms.row(i), values[i], 1.0);
  return equations;
}

}  // namespace

std::vector<double> fit_non_negative(const Matrix& terms, std::span<const double> values) {
  return equations_of(terms, values).solve();
}

double sum_of_terms(std::span<const double> terms, std::span<const double> coefficients) {
  const double sum = std::inner_product(terms.begin(), terms.end(), coefficients.begin(), 0.0);
  return std::max(sum, std::numeric_limits<double>::min());
}

std::vector<double> left_out_ratios(const Matrix& terms, std::span<const double> values) {
  NormalEquations equations = equations_of(terms, values);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < values.size(); ++i) {
    equations.add(terms.row(i), values[i], -1.0);
    const double ratio = values[i] / sum_of_terms(terms.row(i), equations.solve());
    ratios.push_back(std::clamp(ratio, 1.0 / k_largest_ratio, k_largest_ratio));
    equations.add(terms.row(i), values[i], 1.0);
  }
  return ratios;
}

}  // namespace steptune::bayes
