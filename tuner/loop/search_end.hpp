// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace steptune {

/// Reason for the end of a run of the tuner. The history stores the names, so they must not change.
enum class LoopEnd {
  budget,
  exhausted,
  payback,
  interrupted,
  too_many_failures,
  no_feasible_trial,
  nothing_faster,  ///< finished: nothing was shown to be better than the baseline
  nothing_to_gain  ///< finished: the baseline is within `search.worth` of the best
};
[[nodiscard]] std::string to_text(LoopEnd end);
[[nodiscard]] std::optional<LoopEnd> loop_end_from_text(std::string_view text);
/// True if running the study again continues it after this end.
[[nodiscard]] bool is_to_be_continued(LoopEnd end);
/// True if unsettled finalists have their last look (`LookPlan::last`) at this end of the search.
/// False if the study is to be continued. Also false for `nothing_to_gain`, because that end
/// depends on the trials' results.
[[nodiscard]] bool has_last_look(LoopEnd end);

/// A limit of the budget. The history stores the names, so they must not change.
enum class BudgetLimit { trials, time, cost };
[[nodiscard]] std::string to_text(BudgetLimit limit);
[[nodiscard]] std::optional<BudgetLimit> budget_limit_from_text(std::string_view text);

/// Reason for the end of a search.
struct SearchEnd {
  LoopEnd end = LoopEnd::budget;
  /// Reason as text for people. For a limit of the budget: `40 trials`, `30 min of tuning time`,
  /// `$5.00`.
  std::string reason;
  std::optional<BudgetLimit> spent{};  ///< only for `LoopEnd::budget`
};

}  // namespace steptune
