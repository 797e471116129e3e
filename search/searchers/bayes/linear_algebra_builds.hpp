// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/searchers/bayes/linear_algebra.hpp"

namespace steptune::bayes {

/// `linear_algebra_eigen.cpp` is compiled once for each of these instruction sets.
[[nodiscard]] const LinearAlgebra& linear_algebra_baseline();
/// x86-64 with AVX2 and FMA. Linked if `STEPTUNE_LINEAR_ALGEBRA_AVX2` is defined.
[[nodiscard]] const LinearAlgebra& linear_algebra_avx2();

}  // namespace steptune::bayes
