// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "benchmarks/search_quality/problem.hpp"

namespace steptune::search_quality {

/// Which parts of a step trials report beside the objective.
enum class ReportedParts {
  none,
  waits,   ///< what the training loop sees; they add up to the objective
  loading  ///< the loading itself in place of the wait for it; what overlaps does not add up
};

/// Member `number` of the synthetic family of step times (`StepTimeModel`) of `family_seed`.
///
/// `evaluate` is without noise and the optimum is that of every configuration. Searchers are told
/// values with multiplicative noise, its standard error, peak memory, and parts with noise of their
/// own; the noise depends on the run's seed and the trial alone, so it is the same whatever is
/// reported. Too little memory is told as such.
[[nodiscard]] Problem step_time_problem(std::uint64_t family_seed, std::uint64_t number,
                                        ReportedParts reported);

}  // namespace steptune::search_quality
