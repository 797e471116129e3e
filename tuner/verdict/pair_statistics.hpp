// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/pair_error.hpp"
#include "tuner/verdict/scatter.hpp"

namespace steptune {

/// A confirming run of a finalist and a confirming run of the baseline, next to each other in time.
struct RunPair {
  const TrialRecord* incumbent = nullptr;
  const TrialRecord* baseline = nullptr;
};

/// Least variance of a pair's log ratio, because a few pairs may agree by chance or because of a
/// coarse clock. If launches differ by 1.5 %, three pairs show less than this in one of a hundred
/// cases.
inline constexpr double k_least_pair_variance = 4.5e-6;

/// Returns the scatter of the pairs' log ratios, or of relative differences if values are not
/// positive. Needs at least one pair.
[[nodiscard]] Scatter scatter_of(const StudySpec& study, const std::vector<RunPair>& pairs);

/// Mean of the pairs' log ratios, with the posterior of its error.
struct PairStatistics {
  /// Mean of the logarithms, or of relative differences if values are not positive.
  double mean = 0.0;
  bool has_ratio = true;
  std::optional<PairError> error;  ///< none: the pairs do not show it

  /// Return infinity if there is no error.
  [[nodiscard]] double standard_error() const;
  [[nodiscard]] double half_width(double one_sided_error) const;
};
/// Returns the statistics of `pairs`.
///
/// The error is the posterior of `PairError`. The variation of a pair is estimated from the
/// pairs, the launches of the search (`known`) and the variation within the runs. So a single pair
/// also has an interval. With `k_launches_by_pairs`, only the pairs show the variation, and a
/// single pair has an infinite interval. The scatter of earlier judgements counts, too
/// (`MeasureSpec::pair_deviation`). The pairs' sums do not count if runs took turns and disturbance
/// of these runs is usual (`disturbance_is_usual`).
///
/// The variation within the runs does not count in two cases. First, both runs of an interleaved
/// pair are disturbed together. Second, whole runs of programs that end by themselves are
/// independent replications, whose differences include all variation (A. M. Law, Simulation
/// Modeling and Analysis, 4th ed., section 9.5.2).
///
/// In two cases, only the spread of the pairs counts. First, for at least three pairs of whole runs
/// without a steady state: their own intervals mostly describe a longer run. Second, for reported
/// metrics.
[[nodiscard]] PairStatistics statistics_of(
    const StudySpec& study, const std::vector<RunPair>& pairs,
    const std::optional<KnownLaunches>& known = KnownLaunches{});
/// Returns the statistics of `count` pairs; `pairs` has the first of them. Assumes that further
/// pairs have the same mean and the same scatter.
[[nodiscard]] PairStatistics statistics_after(int count, const StudySpec& study,
                                              const std::vector<RunPair>& pairs,
                                              const std::optional<KnownLaunches>& known);

/// True if all runs of these pairs have a steady state.
[[nodiscard]] bool are_steady(const std::vector<RunPair>& pairs);
/// True if all runs of these pairs are whole runs of programs that end by themselves.
[[nodiscard]] bool are_whole_runs(const std::vector<RunPair>& pairs);
/// True for several pairs of whole runs. Their differences include the variation within the runs.
/// `count`: number of all pairs; `pairs` has the first of them.
[[nodiscard]] bool are_repeated_whole_runs(const std::vector<RunPair>& pairs, int count);

/// Least number of pairs for a claim. The second pair runs in the opposite order, so that a drift
/// cancels.
inline constexpr int k_least_pairs = 2;
/// Number of pairs of whole runs without a steady state from which their interval comes from the
/// spread of the pairs alone. Such an interval of two pairs would be too wide to be useful.
inline constexpr int k_least_unsteady_pairs = 3;

}  // namespace steptune
