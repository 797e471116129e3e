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

/// Of the lower end of a 95 % interval.
inline constexpr double k_one_sided_error = 0.025;

/// How much better a configuration is than the baseline, as a ratio with its interval. NaN where it
/// was not measured, or where the objective has values that are not positive.
struct SpeedUp {
  double ratio = std::numeric_limits<double>::quiet_NaN();  ///< 2.0 is twice as fast, or as good
  double low = std::numeric_limits<double>::quiet_NaN();    ///< 95 % interval; NaN: not known
  double high = std::numeric_limits<double>::quiet_NaN();
  int pairs = 0;  ///< pairs of fresh runs that it stems from; 0: from the search trials only
  /// What is left of `low` if a buffer that was filled before the runs' windows hides as much as
  /// it can (`Measurement::slowest_seconds_per_sample`): `low` for whole runs of programs that end
  /// by themselves, unless the study tells a longer planned run.
  double low_if_buffered = std::numeric_limits<double>::quiet_NaN();
  /// 95 % prediction interval: where another confirmation of the same two configurations would find
  /// `ratio` with as few pairs as a claim takes. `low` and `high` are about the ratio itself, these
  /// about a further estimate of it, whose launches differ, too. NaN: not known.
  double repeat_low = std::numeric_limits<double>::quiet_NaN();
  double repeat_high = std::numeric_limits<double>::quiet_NaN();
};

/// What confirming runs say of a configuration. Persistent names.
enum class Verdict {
  open,        ///< more runs may tell
  faster,      ///< better than the baseline, whatever a buffer still hides
  hidden,      ///< better in what was seen, but a buffer could hide that it is not
  not_faster,  ///< not shown to be better with as many runs as that was worth
  failed,      ///< a fresh run failed or violated a guard
};
[[nodiscard]] std::string to_text(Verdict verdict);
[[nodiscard]] std::optional<Verdict> verdict_from_text(std::string_view text);

/// One fresh run of a finalist and one of the baseline, next to each other in time.
struct RunPair {
  const TrialRecord* incumbent = nullptr;
  const TrialRecord* baseline = nullptr;
};

/// The speed-up that pairs show: geometric mean of the ratios, with Student's t interval of their
/// logarithms at a one-sided error of `error`. Their variance is the pooled one of the pairs and of
/// what is `known` without them: launches differ, and so does each run within itself; it is never
/// less than the latter, but where they are whole runs of programs that end by themselves: these
/// are independent replications (A. M. Law, Simulation Modeling and Analysis, 4th ed., section
/// 9.5.2), whose differences hold all that varies. Without a steady state their own intervals are
/// mostly of what a longer run would do, and how they differ is known from three pairs or more
/// alone. A single pair so has an interval that knows of launches, and few degrees of
/// freedom. How reported metrics differ between launches is known from pairs alone: a single one
/// has no interval (infinite).
struct PairStatistics {
  double mean = 0.0;  ///< of the logarithms, or of relative differences if values are not positive
  double standard_error = std::numeric_limits<double>::infinity();
  double degrees_of_freedom = 0.0;
  double half_width = std::numeric_limits<double>::infinity();
  bool has_ratio = true;
};
[[nodiscard]] PairStatistics statistics_of(const StudySpec& study,
                                           const std::vector<RunPair>& pairs, double error,
                                           const LaunchVariation& known = {});
[[nodiscard]] SpeedUp speed_up_of_pairs(const StudySpec& study, const std::vector<RunPair>& pairs,
                                        double error, const LaunchVariation& known = {});

/// From so many pairs of whole runs without a steady state on their spread alone counts: that of
/// two has an interval that says nothing.
inline constexpr int k_least_unsteady_pairs = 3;

/// The same of a finalist with this error, spent over its looks (`share_of_look`). All looks from
/// the usual number of pairs on hold at once (union bound), so the interval is what they share.
[[nodiscard]] SpeedUp speed_up_over_looks(const StudySpec& study, const std::vector<RunPair>& pairs,
                                          double error, const LaunchVariation& known = {});

/// Pairs that a claim of "faster" takes at least.
[[nodiscard]] int least_pairs(const StudySpec& study);

/// The part of a finalist's error that its look after `pairs` pairs may use up; `usual`: the number
/// of pairs that it is planned for. All looks together use up no more than 1.
[[nodiscard]] double share_of_look(int pairs, int usual);

/// The verdict of the pairs, and if more of them are worth it. A finalist that is faster gets the
/// usual number of pairs, or fewer if it is known to within the precision of measuring. An
/// undecided one goes on while it can still be shown within four times that number. Time that is
/// left goes to either until its interval lies on one side of `search.worth` (`may_use_left_time`).
struct Judgement {
  Verdict verdict = Verdict::open;
  bool settled = false;
};
/// "Faster" takes two pairs at least, unless the study asks for one: how much launches differ on
/// this machine a single pair does not tell. `error`: one-sided, of this finalist.
[[nodiscard]] Judgement judge(const StudySpec& study, const std::vector<RunPair>& pairs,
                              double error, const LaunchVariation& known = {});

/// From one run of each, as the search measured them; `pairs` is 0. NaN of the baseline itself.
[[nodiscard]] SpeedUp speed_up_of_trials(const StudySpec& study, const TrialRecord& incumbent,
                                         const TrialRecord& baseline);

}  // namespace steptune
