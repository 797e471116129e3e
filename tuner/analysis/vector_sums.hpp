// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

/// Before a function whose loops take most of the time: it is compiled for the wider vector units,
/// too. Each element is to be computed by itself, so that units of any width give the same result
/// (and CMakeLists.txt names its file).
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#define STEPTUNE_BY_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define STEPTUNE_BY_VECTORS
#endif

namespace steptune {

/// Adds to the first `size` elements of `y` those of `x`, `factor` times each. They do not overlap.
void add_multiple(double* y, const double* x, double factor, std::size_t size);

/// Adds to the first `size` cells the products of four factors with four rows, which do not overlap
/// with the cells.
void add_products(double* cells, const std::array<const double*, 4>& rows,
                  const std::array<double, 4>& factors, std::size_t size);

}  // namespace steptune
