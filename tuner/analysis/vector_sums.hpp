// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

/// Attribute that compiles a function also for wider vector units. Use it for loops that take most
/// of the time. Each element must be computed independently, so that units of any width give the
/// same result. CMakeLists.txt must give options for vectorizing to the file.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#define STEPTUNE_BY_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define STEPTUNE_BY_VECTORS
#endif

namespace steptune {

/// Adds `factor` times the first `size` elements of `x` to the elements of `y`, which must not
/// overlap with `x`.
void add_multiple(double* y, const double* x, double factor, std::size_t size);

/// Adds the products of four factors with four rows to the first `size` cells. The rows must not
/// overlap the cells.
void add_products(double* cells, const std::array<const double*, 4>& rows,
                  const std::array<double, 4>& factors, std::size_t size);

}  // namespace steptune
