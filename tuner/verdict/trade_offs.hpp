// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace steptune {

/// Returns the least difference between two trials that shows that the worse trial is not the best
/// of `candidates` trials. The unit is standard errors of the difference. The error probability is
/// 5 % over all candidates: Dunnett's one-sided critical value, by Sidak's bound.
[[nodiscard]] double critical_difference(std::size_t candidates);

/// Values of a trial in two objectives, the ranked objective first; less is better.
struct ComparedTrial {
  std::array<double, 2> values{};
  /// Standard errors. If an error is 0 or not finite, nothing is known, and the values decide.
  std::array<double, 2> errors{};
};

/// Returns indices of the `others` that are trade-offs against `leader`, in order of the first
/// objective. `leader` is the best in the first objective.
///
/// "Better" means: by more than `critical_difference` standard errors of the difference, as ties
/// are judged (J. C. Hsu, "Constrained simultaneous confidence intervals for multiple comparisons
/// with the best", Annals of Statistics 12(3), 1984). A trade-off is better than `leader` in the
/// second objective, and not better in the first. Any two trade-offs are each better than the other
/// in one objective.
///
/// So if only noise separates several trials, only one of them is returned. First, some trials
/// cannot be distinguished from the best trial in the second objective. Of these, the best in the
/// first objective is returned. The choice is then repeated among the trade-offs against the
/// returned trial.
///
/// The second objective may be proportional to the first (cost on one type of machine). A trial is
/// then better in both or in none. Nothing is then a trade-off. For trials without noise, this is
/// the Pareto front. Among equal trials with independent noise, at most one study in twenty has a
/// trade-off.
[[nodiscard]] std::vector<std::size_t> trade_offs(const ComparedTrial& leader,
                                                  std::span<const ComparedTrial> others);

}  // namespace steptune
