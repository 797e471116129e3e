// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/search_quality/problem.hpp"
#include "search/observation.hpp"

namespace steptune::search_quality {

struct EarlierOptions {
  int trials = 0;
  /// If true, the values are shuffled among the configurations, so that the trials mislead.
  bool misleading = false;
};

/// Returns trials of a made-up earlier study of the same space, for the run of `seed`. They have
/// distinct random configurations, measured at the problem's lowest fidelity and reported as full
/// measurements.
[[nodiscard]] std::vector<Observation> earlier_trials(const Problem& problem, std::uint64_t seed,
                                                      const EarlierOptions& options);

}  // namespace steptune::search_quality
