// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/vector_sums.hpp"

namespace steptune {

STEPTUNE_BY_VECTORS void add_multiple(double* __restrict__ y, const double* __restrict__ x,
                                      double factor, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    y[i] += factor * x[i];
}

STEPTUNE_BY_VECTORS void add_products(double* __restrict__ cells,
                                      const std::array<const double*, 4>& rows,
                                      const std::array<double, 4>& factors, std::size_t size) {
  const double* const a = rows[0];
  const double* const b = rows[1];
  const double* const c = rows[2];
  const double* const d = rows[3];
  for (std::size_t i = 0; i < size; ++i)
    cells[i] += factors[0] * a[i] + factors[1] * b[i] + factors[2] * c[i] + factors[3] * d[i];
}

}  // namespace steptune
