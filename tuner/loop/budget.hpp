// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What a study has used up, over all runs of the tuner.
struct Spending {
  std::int64_t search_trials = 0;  ///< begun: baseline, hints and search
  double elapsed_s = 0.0;
  double usd = 0.0;  ///< trials under way included
  /// What the cheapest trial took that was measured: the least that another one takes.
  double least_trial_s = 0.0;
  /// What one pair of confirming runs is expected to take.
  double confirm_pair_s = 0.0;
};

/// From the trials recorded; `elapsed_s` and what runs at present are the caller's to add.
/// `incumbent` may be null.
[[nodiscard]] Spending spending_of(const std::vector<TrialRecord>& trials,
                                   const TrialRecord* incumbent);

/// Why no further search trial may begin, for people (`40 trials`, `30 min of tuning time`,
/// `$5.00`); nothing while one may. A trial that the budget cannot pay the least for is not begun.
/// A quarter of time and money at most is kept for the confirmation, or half for its first pair.
/// What has begun is not cut short: a budget may be overrun by the last trial and by the first
/// pair.
[[nodiscard]] std::optional<std::string> search_budget_spent(const StudySpec& study,
                                                             const Spending& spending);

/// Whether a further pair of confirming runs fits into time and money.
[[nodiscard]] bool can_pay_confirm_pair(const StudySpec& study, const Spending& spending);

}  // namespace steptune
