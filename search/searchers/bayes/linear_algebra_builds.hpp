// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/searchers/bayes/linear_algebra.hpp"

namespace steptune::bayes {

/// Each of these functions returns a separate build of `linear_algebra_eigen.cpp`. The baseline
/// build uses only instructions that every processor of this architecture has.
[[nodiscard]] const LinearAlgebra& linear_algebra_baseline();
/// Returns the build for x86-64 with AVX2 and FMA. It exists if `STEPTUNE_LINEAR_ALGEBRA_AVX2` is
/// defined.
[[nodiscard]] const LinearAlgebra& linear_algebra_avx2();

}  // namespace steptune::bayes
