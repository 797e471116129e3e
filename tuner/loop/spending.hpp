// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Trials, time and money that a study has used over all runs of the tuner. Also the expected price
/// of its next steps.
struct Spending {
  std::int64_t search_trials = 0;  ///< started trials: baseline, hints and search
  double elapsed_s = 0.0;
  double usd = 0.0;  ///< including trials under way
  /// Least time and money of another trial: the shortest and the cheapest trial measured so far. If
  /// only the baseline was measured, the time is at most a search trial's share of the budget. The
  /// money is then the price of the baseline with its longer window, because no other price is
  /// known.
  double least_trial_s = 0.0;
  double least_trial_usd = 0.0;
  /// Expected time and money of one pair of confirming runs.
  double confirm_pair_s = 0.0;
  double confirm_pair_usd = 0.0;
  /// Shortest time of one pair of confirming runs, if little time is left. Each run then takes its
  /// start-up and at most twice the least window of a confirming run. If the program ends before a
  /// steady state, each run is a whole run.
  double least_confirm_pair_s = 0.0;
  /// True if there is something to confirm: a configuration other than the baseline was measured.
  /// If trials share a running program, that configuration must also be the best so far.
  bool has_contender = false;
  int confirming_runs = 0;  ///< confirming runs measured so far
  /// True if the baseline's or the best trial's program ended by itself before a steady state. A
  /// claim then needs more pairs.
  bool ends_unsteady = false;
};

/// Computes the spending from the recorded trials. The caller adds `elapsed_s` and the cost of
/// running trials. Before there are two confirming runs, assumes windows that are `k_longer_window`
/// times as long as the windows of search trials. With a time budget, a window may take the run's
/// whole share of the time. After two confirming runs, uses their times and prices.
[[nodiscard]] Spending spending_of(const StudySpec& study, const Standing& standing);

/// Computes the spending as it was at the end of the search, without the times of the latest
/// confirming runs. `usd` still counts all money spent.
[[nodiscard]] Spending spending_before_confirming(const StudySpec& study, const Standing& standing);

/// Length of a longer window, as a multiple of a search trial's window. Confirming runs have it, to
/// give full input buffers time to drain. Estimates assume that trials without a steady state would
/// have needed it, too.
inline constexpr double k_longer_window = 2.0;

/// Returns the shortest time of a confirming run without its start-up, in seconds. In a program
/// that already runs, this time is shorter, because the hook reports the end of the warm-up.
[[nodiscard]] double least_confirming_run_s(const StudySpec& study);

}  // namespace steptune
