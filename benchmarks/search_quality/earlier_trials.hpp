// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/search_quality/problem.hpp"
#include "search/observation.hpp"

namespace steptune::search_quality {

struct EarlierOptions {
  int trials = 0;
  /// The values belong to other configurations than they are told of: what was learnt is wrong.
  bool misleading = false;
};

/// Trials of another study of the same space for the run of `seed`: random configurations, each
/// once, at the lowest of the problem's fidelities, as if that were all there is to measure.
[[nodiscard]] std::vector<Observation> earlier_trials(const Problem& problem, std::uint64_t seed,
                                                      const EarlierOptions& options);

}  // namespace steptune::search_quality
