// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

struct Warmup {
  std::size_t intervals = 0;  ///< at the beginning
  bool at_limit = false;      ///< it reaches the middle of all that was seen: more may be warm-up
};

/// How many intervals at the beginning are warm-up, at most half of them. Works in both directions:
/// a slow begin (compilation, cold caches) and a too fast one (full prefetch buffers draining).
///
/// MSER-5: the cut that makes the standard error of the remaining mean smallest, over batches of
/// five, weighed by samples; of all cuts that come within a tenth of that the shortest. Isolated
/// stalls are to be taken out before: the smallest error is else the one that happens to cut them
/// off, and the long run will pay for them. K. P. White, "An effective truncation heuristic
/// for bias reduction in simulation output", Simulation 69(6), 1997; K. P. White, M. J. Cobb and S.
/// C. Spratt, "A comparison of five steady-state truncation heuristics for simulation", WSC 2000.
[[nodiscard]] Warmup find_warmup(std::span<const Interval> intervals);

}  // namespace steptune
