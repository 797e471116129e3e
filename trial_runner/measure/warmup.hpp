// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

struct Warmup {
  std::size_t intervals = 0;  ///< number of intervals at the beginning
  /// The warm-up reaches the middle of the data, so more intervals may belong to it.
  bool at_limit = false;
};

/// Finds the number of warm-up intervals at the beginning, at most half of all. Finds slow starts
/// (compilation, cold caches) as well as too fast ones (full prefetch buffers).
///
/// MSER-5: compares the cuts by the standard error of the remaining mean, over batches of five
/// intervals (fewer if there are fewer than 50), weighted by samples. Takes the shortest cut whose
/// squared standard error is within a tenth of the minimum. The caller must remove isolated stalls
/// first: otherwise the best cut is the one that removes them, although the long run will have such
/// stalls. K. P. White, "An effective truncation heuristic for bias reduction in simulation
/// output", Simulation 69(6), 1997; K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five
/// steady-state truncation heuristics for simulation", WSC 2000.
[[nodiscard]] Warmup find_warmup(std::span<const Interval> intervals);

}  // namespace steptune
