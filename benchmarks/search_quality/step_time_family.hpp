// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/search_quality/step_time_problem.hpp"
#include "benchmarks/search_quality/summary.hpp"
#include "common/error.hpp"
#include "common/json.hpp"

namespace steptune::search_quality {

struct FamilyOptions {
  int members = 20;
  std::uint64_t seed = 0;  ///< seed of the random members
  std::vector<std::string> searchers;
};

/// Function that plays all seeds of a searcher on one problem.
using PlayCampaign =
    std::function<Result<Campaign>(const Problem& problem, const std::string& searcher)>;

/// Number of evaluations until a configuration's noise-free value is within 3 % of the optimum.
/// `by_member` has the median over seeds for each member (a simulated program); `median` is the
/// median of these. Infinite if at least half of the runs never find such a configuration.
struct FamilySummary {
  std::vector<double> by_member;
  double median = 0.0;
  double solved = 0.0;  ///< share of all runs that find such a configuration
};

/// Summarises one searcher's `campaigns`, one for each member of `problems`.
[[nodiscard]] FamilySummary summarise_family(const std::vector<Problem>& problems,
                                             const std::vector<Campaign>& campaigns);

/// Plays the whole family and prints a table for people. Returns every evaluation and the
/// summaries.
[[nodiscard]] Result<Json> run_step_time_family(const FamilyOptions& options,
                                                const PlayCampaign& play);

}  // namespace steptune::search_quality
