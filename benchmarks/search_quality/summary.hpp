// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/search_quality/player.hpp"
#include "common/json.hpp"

namespace steptune::search_quality {

/// Runs of one searcher on one problem, one for each seed.
struct Campaign {
  std::string searcher;
  std::vector<Trajectory> trajectories;
};

/// Number of evaluations (or cost) until the regret is at most `regret`. `solved`: share of the
/// seeds that reached it. `median`: median over all seeds. It is nullopt if at least half of the
/// seeds did not reach it.
struct Reached {
  double regret = 0.0;
  std::optional<double> median;
  double solved = 0.0;
};

struct Summary {
  std::vector<Reached> evaluations;  ///< one objective: to within 1, 5 and 10 %
  std::vector<Reached> cost;         ///< cost as a multiple of full runs, if fidelities differ
  /// Median regret (one objective) or share of the hypervolume (two) by number of evaluations.
  std::vector<std::pair<int, double>> after;
  double failures = 0.0;  ///< mean number of failed evaluations per seed
  double suggest_ms_median = 0.0;
  double suggest_ms_p95 = 0.0;
  double suggest_ms_p99 = 0.0;
  double thinking_s = 0.0;  ///< mean over seeds of the CPU seconds of all suggestions of a run
};

[[nodiscard]] Summary summarise(const Problem& problem, const Campaign& campaign);

/// Returns the best value (one objective) or the share of the hypervolume (two) after each
/// evaluation. Before the first success, the result is NaN (one objective) or 0 (two). Only values
/// at full fidelity count.
[[nodiscard]] std::vector<double> progress_of(const Problem& problem, const Trajectory& trajectory);

/// Returns one result for each seed; smaller is better. With one objective, the result is the final
/// regret; with two, it is minus the share of the hypervolume. A seed without a success has an
/// infinite result.
[[nodiscard]] std::vector<double> results_of(const Problem& problem, const Campaign& campaign);

/// Tests if results `a` are smaller than `b` (one-sided Mann-Whitney test, normal approximation
/// with ties). Returns the probability of a difference at least as clear if both had the same
/// distribution.
[[nodiscard]] double p_value(const std::vector<double>& a, const std::vector<double>& b);

[[nodiscard]] Json to_json(const Problem& problem, const Campaign& campaign,
                           const Summary& summary);

/// Returns a table for people, one row per campaign.
[[nodiscard]] std::string text_of(const Problem& problem, const std::vector<Campaign>& campaigns,
                                  const std::vector<Summary>& summaries);

}  // namespace steptune::search_quality
