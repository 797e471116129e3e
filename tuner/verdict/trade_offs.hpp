// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace steptune {

/// Returns the number of standard errors of the difference by which the best of `candidates` must
/// be ahead of another one. The other one is then not the best. The error is 5 % in all: Dunnett's
/// one-sided critical value, by Sidak's bound.
[[nodiscard]] double critical_difference(std::size_t candidates);

/// A trial in two objectives, the ranked one first; less is better.
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
/// So if only noise separates several trials, one of them is named. Among those that cannot be
/// distinguished from the best in the second objective, it is the best in the first objective. The
/// same is then repeated among the trade-offs against that trial.
///
/// If the second objective is proportional to the first (cost on one type of machine), a trial
/// better in one is better in both. Nothing is then a trade-off. For trials without noise, this is
/// the Pareto front. Among equal trials with independent noise, at most one study in twenty names
/// any.
[[nodiscard]] std::vector<std::size_t> trade_offs(const ComparedTrial& leader,
                                                  std::span<const ComparedTrial> others);

}  // namespace steptune
