// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "common/interval.hpp"

namespace steptune {

/// Returns how many standard errors a trial must be worse than another one to prove that it is not
/// the best of `candidates` trials. The error probability is 5 % over all candidates: Dunnett's
/// one-sided critical value, by Sidak's bound.
[[nodiscard]] double critical_difference(std::size_t candidates);

/// Returns the indices of the `others` that are trade-offs against `leader`, the best trial in the
/// first objective. They are in the order of the first objective.
///
/// Each trial has two values, the ranked objective first, with signs so that less is better. If a
/// standard error is 0 or not finite, nothing is known about it, and the values decide.
///
/// "Better" means: by more than `critical_difference` standard errors of the difference, as ties
/// are judged (J. C. Hsu, "Constrained simultaneous confidence intervals for multiple comparisons
/// with the best", Annals of Statistics 12(3), 1984). A trade-off is better than `leader` in the
/// second objective, and not better in the first. If two trade-offs are returned, each is better
/// than the other in one objective.
///
/// If only noise separates several trials, returns one of them. The selection repeats two steps. It
/// considers only trials that are trade-offs against the trial that it returned last:
/// - It finds the trials that cannot be distinguished from the best one in the second objective.
/// - Among these trials, it returns the best one in the first objective.
///
/// The second objective may be proportional to the first (cost on one type of machine). A trial is
/// then better in both or in none, so there are no trade-offs. For trials without noise, the result
/// is the Pareto front. Among equal trials with independent noise, at most one study in twenty has
/// a trade-off.
[[nodiscard]] std::vector<std::size_t> trade_offs(
    const std::array<MeasuredValue, 2>& leader,
    std::span<const std::array<MeasuredValue, 2>> others);

}  // namespace steptune
