// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/enum_names.hpp"
#include "common/numbers.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/looks.hpp"
#include "tuner/verdict/scatter.hpp"

namespace steptune {

/// Ratio by which a configuration is better than the baseline, with its interval. The ratio is NaN
/// if the configuration was not measured, or if the objective has values that are not positive.
struct SpeedUp {
  double ratio = k_nan;  ///< 2.0: twice as fast, or as good
  double low = k_nan;    ///< 95 % interval; NaN: not known
  double high = k_nan;
  int pairs = 0;  ///< pairs of confirming runs; 0: the ratio is from search trials only
  /// Value of `low` if a full buffer of data at the start of the runs' windows hides as much time
  /// as it can (`Measurement::slowest_seconds_per_sample`). For whole runs of programs that end by
  /// themselves, it equals `low`, unless the study's planned run is longer.
  double low_if_buffered = k_nan;
  /// 95 % prediction interval for the `ratio` of another confirmation of both configurations, with
  /// the fewest pairs that a claim needs. This interval is wider than the interval from `low` to
  /// `high`, because the launches of the other confirmation differ, too. NaN: not known.
  double repeat_low = k_nan;
  double repeat_high = k_nan;
  /// Further pairs after which the verdict would probably be known (`further_pairs`). NaN: the
  /// verdict is known, or the number cannot be estimated.
  double more_pairs = k_nan;
  /// Standard error of the ratio's logarithm, as if these pairs were the only look at a single
  /// finalist. The half-width of the 95 % interval would then be 1.96 times this error. NaN: not
  /// known.
  double standard_error = k_nan;
};

/// Verdict of confirming runs on a configuration. The history stores the names, so do not change
/// them.
enum class Verdict {
  open,        ///< more runs may decide
  faster,      ///< better than the baseline, whatever a buffer may hide
  hidden,      ///< better as measured, but a full buffer may hide that it is slower
  not_faster,  ///< not shown to be better, and more runs are not worthwhile
  failed,      ///< a fresh run failed or violated a guard
  // Only with `MeasureSpec::confirm_all`:
  slower,  ///< slower than the baseline
  tied,    ///< faster or slower than the baseline by less than `search.worth`
  worse,   ///< not slower, but violates a guard over launches
};
inline constexpr auto k_verdict_names = enum_names<Verdict>({
    {Verdict::open, "open"},
    {Verdict::faster, "faster"},
    {Verdict::hidden, "hidden"},
    {Verdict::not_faster, "not_faster"},
    {Verdict::failed, "failed"},
    {Verdict::slower, "slower"},
    {Verdict::tied, "tied"},
    {Verdict::worse, "worse"},
});
[[nodiscard]] std::string to_text(Verdict verdict);

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

/// Mean of the pairs' log ratios, with the half-width of its interval.
struct PairStatistics {
  /// Mean of the logarithms, or of relative differences if values are not positive.
  double mean = 0.0;
  double standard_error = k_infinity;
  double half_width = k_infinity;
  bool has_ratio = true;
};
/// Computes the statistics of `pairs` at the one-sided error `error`.
///
/// The interval is the posterior of `PairError`. The variation of a pair is estimated from the
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
/// metrics, with Student's t.
[[nodiscard]] PairStatistics statistics_of(
    const StudySpec& study, const std::vector<RunPair>& pairs, double error,
    const std::optional<KnownLaunches>& known = KnownLaunches{});
/// Returns the statistics of `count` pairs; `pairs` has the first of them. Assumes that further
/// pairs have the same mean and the same scatter.
[[nodiscard]] PairStatistics statistics_after(int count, const StudySpec& study,
                                              const std::vector<RunPair>& pairs, double error,
                                              const std::optional<KnownLaunches>& known);
/// Returns the speed-up that `pairs` show: the geometric mean of their ratios, with the interval of
/// `statistics_of`.
[[nodiscard]] SpeedUp speed_up_of_pairs(
    const StudySpec& study, const std::vector<RunPair>& pairs, double error,
    const std::optional<KnownLaunches>& known = KnownLaunches{});

/// Least number of pairs for a claim. The second pair runs in the opposite order, so that a drift
/// cancels.
inline constexpr int k_least_pairs = 2;
/// Largest number of a finalist's pairs without time to spare, as a multiple of the usual number.
inline constexpr int k_most_times_usual = 4;
/// Number of pairs of whole runs without a steady state from which their interval comes from the
/// spread of the pairs alone. Such an interval of two pairs would be too wide to be useful.
inline constexpr int k_least_unsteady_pairs = 3;

/// Returns the speed-up of a finalist whose error is divided among its looks (`error_of_look`). The
/// intervals of all looks from the usual number of pairs on are valid at the same time. So the
/// returned interval is the common part of these intervals. `is_last`: no further pair follows, for
/// a reason that does not depend on these pairs (`LookPlan::last`).
[[nodiscard]] SpeedUp speed_up_over_looks(
    const StudySpec& study, const std::vector<RunPair>& pairs, double error,
    const std::optional<KnownLaunches>& known = KnownLaunches{}, bool is_last = false);

/// Returns when a study looks at its finalists. If each configuration is confirmed, the first look
/// comes at the usual number of pairs, because the scatter of two pairs alone shows nothing.
[[nodiscard]] LookPlan look_plan(const StudySpec& study);
/// Returns the least number of pairs for a claim of "faster", if the program has a steady state.
[[nodiscard]] int least_pairs(const StudySpec& study);
/// Returns the least number of pairs like `pairs` for a claim. Two pairs of whole runs without a
/// steady state show too little of their spread.
[[nodiscard]] int least_for_claim(const StudySpec& study, const std::vector<RunPair>& pairs);

/// Verdict of the pairs. `settled`: more pairs are not worthwhile.
///
/// A faster finalist gets the usual number of pairs. It gets fewer if its speed-up is known to
/// within the precision of measuring. An undecided finalist continues while it can still be shown
/// to be faster within four times the usual number. If time is left (`may_use_left_time`), faster
/// and undecided finalists continue until their interval lies on one side of `search.worth`. The
/// number of pairs is then not limited. Only a look (`looks_until`) settles that a finalist is
/// faster. A finalist may be given up after any pair.
struct Judgement {
  Verdict verdict = Verdict::open;
  bool settled = false;
};
/// Judges a finalist by its pairs. "Faster" takes at least two pairs, or three pairs of whole runs
/// without a steady state, unless the study asks for fewer. A single pair does not show how much
/// launches differ on this machine. `error`: this finalist's one-sided error. `is_last`: as for
/// `speed_up_over_looks`.
[[nodiscard]] Judgement judge(const StudySpec& study, const std::vector<RunPair>& pairs,
                              double error,
                              const std::optional<KnownLaunches>& known = KnownLaunches{},
                              bool is_last = false);
/// Only the pairs show how much launches differ. If a prior also counted, a third of all campaigns
/// of equal versions would keep one of them on machines where launches differ by 10 %.
inline constexpr std::nullopt_t k_launches_by_pairs = std::nullopt;
/// Two one-sided errors for judging a configuration: for the verdict "faster", and for other
/// verdicts.
struct BothErrors {
  double faster = k_one_sided_error;  ///< at most `other`
  double other = k_one_sided_error;
};
/// Judges a configuration that may also be slower (`MeasureSpec::confirm_all`). The interval
/// decides at each look: `tied` if it lies within `search.worth` of 1 on both sides, `faster` or
/// `slower` if it excludes 1 whatever a buffer may hide. The interval must also lie on one side of
/// the slowdown `MeasureSpec::confirm_slowdown`. An undecided configuration continues until the
/// study's time is over. If the study does not limit its time, it continues up to four times the
/// usual number of pairs. Only the pairs show how much launches vary (`k_launches_by_pairs`).
[[nodiscard]] Judgement judge_both_ways(const StudySpec& study, const std::vector<RunPair>& pairs,
                                        const BothErrors& errors, bool is_last = false);

/// Returns the speed-up that a search trial of a configuration and a search trial of the baseline
/// show. Its `pairs` is 0. Its ratio is NaN if both are the same trial.
[[nodiscard]] SpeedUp speed_up_of_trials(const StudySpec& study, const TrialRecord& incumbent,
                                         const TrialRecord& baseline);

}  // namespace steptune
