// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "benchmarks/search_quality/problem.hpp"

namespace steptune::search_quality {

/// Makes a problem from a simulated program (`StepTimeModel`): member `number` of the family that
/// `family_seed` draws.
///
/// `evaluate` has no noise, and the optimum is exact. Searchers get values with multiplicative
/// noise, which depends only on the run's seed and the trial. They also get the noise's standard
/// error and the peak memory. A configuration that needs too much memory fails as out of memory.
[[nodiscard]] Problem step_time_problem(std::uint64_t family_seed, std::uint64_t number);

}  // namespace steptune::search_quality
