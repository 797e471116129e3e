// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"

namespace steptune {

/// One-sided error of the lower end of a 95 % interval.
inline constexpr double k_one_sided_error = k_most_confirm_error;

/// How much better a configuration is than the baseline: a ratio with its interval. NaN if it was
/// not measured, or if the objective has values that are not positive.
struct SpeedUp {
  double ratio = std::numeric_limits<double>::quiet_NaN();  ///< 2.0 is twice as fast, or as good
  double low = std::numeric_limits<double>::quiet_NaN();    ///< 95 % interval; NaN: not known
  double high = std::numeric_limits<double>::quiet_NaN();
  int pairs = 0;  ///< pairs of fresh runs behind it; 0: from the search trials only
  /// Rest of `low` if a buffer that was filled before the runs' windows hides as much as it can
  /// (`Measurement::slowest_seconds_per_sample`). Equal to `low` for whole runs of programs that
  /// end by themselves, unless the study's planned run is longer.
  double low_if_buffered = std::numeric_limits<double>::quiet_NaN();
  /// 95 % prediction interval: where another confirmation of the same two configurations would find
  /// `ratio` with the fewest pairs that a claim needs. `low` and `high` are about the ratio itself;
  /// these are about another estimate of it, whose launches differ, too. NaN: not known.
  double repeat_low = std::numeric_limits<double>::quiet_NaN();
  double repeat_high = std::numeric_limits<double>::quiet_NaN();
};

/// Verdict of confirming runs on a configuration. Persistent names.
enum class Verdict {
  open,        ///< more runs may decide
  faster,      ///< better than the baseline, whatever a buffer may hide
  hidden,      ///< better as measured, but a buffer could hide that it is not
  not_faster,  ///< not shown to be better with as many runs as were worthwhile
  failed,      ///< a fresh run failed or violated a guard
  slower,      ///< worse than the baseline; only if each configuration is confirmed
  tied,        ///< within `search.worth` of the baseline, either way; only then, too
};
[[nodiscard]] std::string to_text(Verdict verdict);
[[nodiscard]] std::optional<Verdict> verdict_from_text(std::string_view text);

/// One fresh run of a finalist and one of the baseline, next to each other in time.
struct RunPair {
  const TrialRecord* incumbent = nullptr;
  const TrialRecord* baseline = nullptr;
};

/// Mean of the pairs' log ratios, with the half-width of its Student's t interval.
struct PairStatistics {
  double mean = 0.0;  ///< of the logarithms, or of relative differences if values are not positive
  double standard_error = std::numeric_limits<double>::infinity();
  double degrees_of_freedom = 0.0;
  double half_width = std::numeric_limits<double>::infinity();
  bool has_ratio = true;
};
/// Computes the statistics of `pairs` at the one-sided error `error`.
///
/// The variance pools the pairs' own variance with what is `known` without them: launches differ,
/// and each run varies within itself. So a single pair also has an interval, with few degrees of
/// freedom. The variance is never less than the variation within the runs, with two exceptions.
/// Interleaved pairs are disturbed together. Whole runs of programs that end by themselves are
/// independent replications (A. M. Law, Simulation Modeling and Analysis, 4th ed., section 9.5.2),
/// whose differences include all variation.
///
/// Without a steady state, the own intervals of whole runs are mostly about a longer run. Their
/// variance is then known only from three pairs on, from the pairs alone. The same holds for the
/// variation of reported metrics between launches: a single pair has an infinite interval.
[[nodiscard]] PairStatistics statistics_of(const StudySpec& study,
                                           const std::vector<RunPair>& pairs, double error,
                                           const LaunchVariation& known = {});
/// Returns the speed-up that `pairs` show: the geometric mean of their ratios, with that interval.
[[nodiscard]] SpeedUp speed_up_of_pairs(const StudySpec& study, const std::vector<RunPair>& pairs,
                                        double error, const LaunchVariation& known = {});

/// Least number of pairs of whole runs without a steady state for an interval from their spread
/// alone. The interval of two pairs would be too wide to say anything.
inline constexpr int k_least_unsteady_pairs = 3;

/// Returns the speed-up of a finalist that divides its error among its looks (`share_of_look`). All
/// looks from the usual number of pairs on hold at the same time (union bound), so the interval is
/// their common part.
[[nodiscard]] SpeedUp speed_up_over_looks(const StudySpec& study, const std::vector<RunPair>& pairs,
                                          double error, const LaunchVariation& known = {});

/// Returns the least number of pairs for a claim of "faster".
[[nodiscard]] int least_pairs(const StudySpec& study);

/// One look at a finalist: after so many pairs "faster" may be claimed, with this share of its
/// error.
struct Look {
  int pairs = 0;
  double share = 0.0;
};
/// Returns the looks at a finalist with `usual` planned pairs, up to the first look at `pairs` or
/// more. The looks at two pairs and at each number below the usual one share a quarter of the
/// error. From the usual number on, looks come at numbers that grow by 4^(1/3), so four times the
/// usual number is a look, too. Each uses seven tenths of the error of the look before. All shares
/// together are 1 (union bound). Fewer looks than pairs leave a larger share for each.
[[nodiscard]] std::vector<Look> looks_until(int pairs, int usual);
/// Returns the share of the error for an interval after `pairs` pairs: that of the next look. Only
/// the end of time or money ends a confirmation between two looks, so no other look uses that
/// share.
[[nodiscard]] double share_of_look(int pairs, int usual);

/// Verdict of the pairs. `settled`: more pairs are not worthwhile.
///
/// A finalist that is faster gets the usual number of pairs, or fewer if it is known to within the
/// precision of measuring. An undecided finalist continues while it can still be shown to be faster
/// within four times that number. Time that is left goes to either of them until its interval lies
/// on one side of `search.worth` (`may_use_left_time`), however many pairs that takes. Only a look
/// (`looks_until`) settles that a finalist is faster. It may be given up after any pair.
struct Judgement {
  Verdict verdict = Verdict::open;
  bool settled = false;
};
/// Judges a finalist by its pairs. "Faster" takes at least two pairs, unless the study asks for
/// one: a single pair does not show how much launches differ on this machine. `error`: one-sided,
/// of this finalist.
[[nodiscard]] Judgement judge(const StudySpec& study, const std::vector<RunPair>& pairs,
                              double error, const LaunchVariation& known = {});
/// Launch variation of which only the pairs say something. A guess would be wrong on machines whose
/// launches differ more: at 10 %, a third of all campaigns of equal versions would keep one.
inline constexpr LaunchVariation k_launches_by_pairs{.degrees_of_freedom = 0.0};
/// Errors of judging a configuration that may also be slower, each one-sided.
struct BothErrors {
  double faster = k_one_sided_error;  ///< at most `other`
  double other = k_one_sided_error;
};
/// Judges a configuration that may also be slower (`MeasureSpec::confirm_all`). The interval
/// decides at each look: `tied` if it lies within `search.worth` of 1 on both sides, `faster` or
/// `slower` if it excludes 1 whatever a buffer may hide. Continues until then if time is limited,
/// otherwise up to four times the usual number of pairs. Only the pairs show how much launches vary
/// (`k_launches_by_pairs`).
[[nodiscard]] Judgement judge_both_ways(const StudySpec& study, const std::vector<RunPair>& pairs,
                                        const BothErrors& errors);

/// Returns the speed-up by one search trial of each; its `pairs` is 0. NaN for the baseline itself.
[[nodiscard]] SpeedUp speed_up_of_trials(const StudySpec& study, const TrialRecord& incumbent,
                                         const TrialRecord& baseline);

}  // namespace steptune
