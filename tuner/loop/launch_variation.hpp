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

/// From the launches that nobody selected for their speed: the baseline's, its sentinels and the
/// confirming ones, grouped by configuration, on top of the prior, which is `LaunchVariation{}`.
/// What varies within the runs is taken off, and launches that others disturbed much are left out
/// (`without_disturbed`). Values that are not positive are left out. Where the
/// machine drifts, `drift` tells what of the search's baselines is left without that.
[[nodiscard]] LaunchVariation estimate_launch_variation(const std::vector<TrialRecord>& trials,
                                                        const MachineDrift& drift);

/// The standard error of a trial's value as that of its configuration: of one launch among many.
/// `objective` indexes the trial's values; unchanged for a value whose own error is unknown or 0
/// (a metric that the program reports).
[[nodiscard]] double error_among_launches(const TrialRecord& trial, std::size_t objective,
                                          const LaunchVariation& variation);
[[nodiscard]] double error_among_launches(double value, double standard_error,
                                          const LaunchVariation& variation);

}  // namespace steptune
