// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/history/history.hpp"

namespace steptune {

/// How much launches of one configuration differ beyond what varies within each: memory layout,
/// placement, neighbours. The upper level of the two-level model of T. Kalibera and R. Jones,
/// "Rigorous benchmarking in reasonable time", ISMM 2013.
struct LaunchVariation {
  double relative = 0.015;          ///< standard deviation, as a share of the value
  double degrees_of_freedom = 3.0;  ///< that this is known with
};

class MachineDrift;

/// Whether a trial's program came to its own end, and was measured as far as it goes.
[[nodiscard]] bool is_whole_run(const TrialRecord& trial);
/// Whether it came to a steady state; true of trials without a measurement of time.
[[nodiscard]] bool is_steady(const TrialRecord& trial);

/// Standard error of a trial's first objective, as a share of its value; 0 of a value of 0.
[[nodiscard]] double relative_error(const TrialRecord& trial);

/// Scatter within a run, as a share of its value: the error of its own batch means and phases.
/// A trial's interval is wider: for its looks, for what other trials varied by, and for what is
/// left of a start. Launches that are compared with each other show all of that in their
/// differences.
[[nodiscard]] double error_within_run(const TrialRecord& trial);

/// From the launches that nobody selected for their speed: the baseline's, its sentinels and the
/// confirming ones, grouped by configuration, on top of the prior, which is `LaunchVariation{}`.
/// What varies within the runs is taken off (their own batch means' error, without what intervals
/// are widened by), but for whole runs without a steady state, whose own
/// interval is not of that: these differ by both. Launches that others disturbed much are left out
/// (`without_disturbed`), and values that are not positive. Where the machine drifts, `drift` tells
/// what of the search's baselines is left without that.
[[nodiscard]] LaunchVariation estimate_launch_variation(const std::vector<TrialRecord>& trials,
                                                        const MachineDrift& drift);

/// How much steps vary within the study's trials (`UsualNoise`), in seconds; 0 before one was
/// measured. Those that took turns with the baseline in one program say nothing of it, nor do those
/// that others disturbed much.
[[nodiscard]] double usual_variance_s(const std::vector<TrialRecord>& trials);

/// The standard error of a trial's value as that of its configuration: of one launch among many.
/// `objective` indexes the trial's values; unchanged for a value whose own error is unknown or 0
/// (a metric that the program reports). Of a whole run without a steady state it is what launches
/// of the study differ by, or a guess before any was repeated: what its own interval does not know
/// of a longer run, those that it is compared with do not either.
[[nodiscard]] double error_among_launches(const TrialRecord& trial, std::size_t objective,
                                          const LaunchVariation& variation);
[[nodiscard]] double error_among_launches(double value, double standard_error,
                                          const LaunchVariation& variation);

}  // namespace steptune
