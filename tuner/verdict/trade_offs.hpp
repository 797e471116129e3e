// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace steptune {

/// By how many standard errors of the difference the best of so many must be ahead of one for that
/// one not to be the best, at an error of 5 % in all: Dunnett's one-sided critical value, by
/// Sidak's bound.
[[nodiscard]] double critical_difference(std::size_t candidates);

/// A trial in two objectives, the ranked one first; less is better.
struct ComparedTrial {
  std::array<double, 2> values{};
  /// Standard errors; of 0 and of what is not finite nothing is known, and values decide.
  std::array<double, 2> errors{};
};

/// Indices of the `others` that are trade-offs against `leader`, which is the best in the first
/// objective, in order of that. Better means: by more than `critical_difference` standard errors of
/// the difference, as ties are judged (J. C. Hsu, "Constrained simultaneous confidence intervals
/// for multiple comparisons with the best", Annals of Statistics 12(3), 1984). A trade-off is
/// better than `leader` in the second objective, and not in the first as well; against each other
/// trade-off it is better in one objective, and that one in the other. So of several that noise
/// alone tells apart one is named: of those that cannot be told in the second objective from the
/// best in it, the best in the first; then likewise among what is a trade-off against that.
///
/// Where the second objective is proportional to the first (cost on one type of machine), what is
/// better in one is better in both, whatever the errors, and nothing is a trade-off. Of trials
/// without noise the front is that of Pareto. Of equal ones with independent noise at most one
/// study in twenty names any.
[[nodiscard]] std::vector<std::size_t> trade_offs(const ComparedTrial& leader,
                                                  std::span<const ComparedTrial> others);

}  // namespace steptune
