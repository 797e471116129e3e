// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "benchmarks/search_quality/problem.hpp"

namespace steptune::search_quality {

/// Member `number` of the synthetic family of step times (`StepTimeModel`) of `family_seed`.
///
/// `evaluate` is without noise and the optimum is that of every configuration. Searchers are told
/// values with multiplicative noise, which depends on the run's seed and the trial alone, its
/// standard error, and peak memory. Too little memory is told as such.
[[nodiscard]] Problem step_time_problem(std::uint64_t family_seed, std::uint64_t number);

}  // namespace steptune::search_quality
