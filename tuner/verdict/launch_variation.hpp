// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/history/history.hpp"

namespace steptune {

/// Variation between launches of one configuration beyond the variation within each: memory layout,
/// placement, neighbours. The upper level of the two-level model of T. Kalibera and R. Jones,
/// "Rigorous benchmarking in reasonable time", ISMM 2013.
struct LaunchVariation {
  double relative = 0.015;          ///< standard deviation, as a share of the value
  double degrees_of_freedom = 3.0;  ///< of the estimate
};

/// Guess that counts less than one observation. Launches differ by 1 % on a quiet server and by 10
/// % on a shared machine, and the default guess fits servers. With this guess, comparisons of equal
/// commands err in at most 5 % for variations of 0 to 10 %
/// (tests/unit/verdict/confirm_all_test.cpp).
inline constexpr LaunchVariation k_weak_guess{0.025, 0.75};

class MachineDrift;

/// True if a trial's program came to its own end and the whole of it was measured.
[[nodiscard]] bool is_whole_run(const TrialRecord& trial);
/// True if the trial reached a steady state, or has no measurement of time.
[[nodiscard]] bool is_steady(const TrialRecord& trial);

/// Returns the standard error of a trial's first objective as a share of its value; 0 for a value
/// of 0.
[[nodiscard]] double relative_error(const TrialRecord& trial);

/// Returns the scatter within a run as a share of its value: the error of its own batch means and
/// phases. A trial's interval is wider, because of its looks, the noise of other trials, and a
/// possible rest of the warm-up. Between launches, all of this shows in their differences.
[[nodiscard]] double error_within_run(const TrialRecord& trial);

/// Returns the standard error of the trial's ratio to the baseline's run that took turns with it,
/// with the error of the time of its phases; NaN without such a run.
[[nodiscard]] double ratio_error(const TrialRecord& trial);

/// Estimates the variation from launches that were not selected for their speed, grouped by
/// configuration: baselines, sentinels and confirming runs. Starts from the prior
/// `LaunchVariation{}`.
///
/// Subtracts the variation within runs (the error of their own batch means, without the widening of
/// intervals). Does not subtract it for whole runs without a steady state, whose intervals do not
/// show it; their differences contain both. Leaves out launches that other programs disturbed much
/// (`without_disturbed`), and values that are not positive. If the machine drifts, uses the
/// differences between baselines that `drift` leaves.
[[nodiscard]] LaunchVariation estimate_launch_variation(const std::vector<TrialRecord>& trials,
                                                        const MachineDrift& drift);

/// Returns how much steps vary within the study's trials (`UsualNoise`), in seconds; 0 before one
/// was measured. Ignores trials that took turns with the baseline in one program, and trials that
/// other programs disturbed much.
[[nodiscard]] double usual_variance_s(const std::vector<TrialRecord>& trials);

/// Returns the standard error of a trial's value as an estimate for its configuration, of which the
/// trial is one launch. `objective` is the index of the value. A value whose own error is unknown
/// or 0 (a metric that the program reports) keeps that error.
///
/// For a whole run without a steady state, returns the variation between the study's launches, or a
/// guess before any launch was repeated. Its own interval is about a longer run, which is equally
/// unknown for the trials that it is compared with.
[[nodiscard]] double error_among_launches(const TrialRecord& trial, std::size_t objective,
                                          const LaunchVariation& variation);
[[nodiscard]] double error_among_launches(double value, double standard_error,
                                          const LaunchVariation& variation);

}  // namespace steptune
