// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/verdict/scatter.hpp"

namespace steptune {

/// Variation between launches of one configuration, in addition to the variation within each
/// launch. Causes are memory layout, placement on CPUs, and other programs. This is the upper level
/// of the two-level model of T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable time",
/// ISMM 2013.
struct LaunchVariation {
  double relative = 0.015;          ///< standard deviation, as a share of the value
  double degrees_of_freedom = 3.0;  ///< degrees of freedom of `relative`
};

/// Scatter of launches of one configuration.
struct LaunchScatter {
  Scatter scatter;               ///< of logarithms
  double within_variance = 0.0;  ///< mean variance within a launch
};

/// Launches that a comparison knows besides its own. If there are none, only the prior counts.
using KnownLaunches = std::vector<LaunchScatter>;

class MachineDrift;

/// True if a trial's program ended by itself and its whole run was measured.
[[nodiscard]] bool is_whole_run(const TrialRecord& trial);
/// True if the trial reached a steady state, or has no measurement of time.
[[nodiscard]] bool is_steady(const TrialRecord& trial);

/// Returns the standard error of a trial's first objective as a share of its value; 0 for a value
/// of 0.
[[nodiscard]] double relative_error(const TrialRecord& trial);

/// Returns the standard error of a run's own batch means and phases, as a share of its value. The
/// trial's interval is wider: it allows for repeated checks of its width, the noise of other
/// trials, and a rest of the warm-up. The differences between launches already include these
/// effects.
[[nodiscard]] double error_within_run(const TrialRecord& trial);

/// Returns the relative standard error of the trial's ratio to the baseline's run that took turns
/// with it. Includes the error of the time of phases. NaN without such a run.
[[nodiscard]] double ratio_error(const TrialRecord& trial);

/// Estimates the variation from launches that were not selected for their speed, grouped by
/// configuration: baselines, sentinels and confirming runs. Starts from the prior
/// `LaunchVariation{}`.
///
/// Subtracts the variation within runs (`error_within_run`). Does not subtract it for whole runs
/// without a steady state, because their intervals do not show it. The differences between such
/// runs contain both variations. Leaves out launches that other programs disturbed much
/// (`without_disturbed`), and values that are not positive. If the machine drifts, uses the
/// differences between runs of the baseline after the drift is removed.
[[nodiscard]] LaunchVariation estimate_launch_variation(const std::vector<TrialRecord>& trials,
                                                        const MachineDrift& drift);
/// Returns the scatter of each configuration with several launches.
/// `estimate_launch_variation` uses the same launches. If `drift` is significant, they include no
/// search runs of the baseline.
[[nodiscard]] KnownLaunches launch_scatters(const std::vector<TrialRecord>& trials,
                                            const MachineDrift& drift);

/// Returns the usual variance of steps within the study's trials (`UsualNoise`), in seconds; 0
/// before a trial was measured. Ignores trials that took turns with the baseline in one program,
/// and trials that other programs disturbed much.
[[nodiscard]] double usual_variance_s(const std::vector<TrialRecord>& trials);

/// Returns the standard error of a trial's value as an estimate for its configuration. The trial is
/// one launch of the configuration. `objective` is the index of the value. A value whose own error
/// is unknown or 0 (a metric that the program reports) keeps that error.
///
/// For a whole run without a steady state, returns the variation between the study's launches.
/// Before any launch was repeated, returns a guess. The run's own interval does not count, because
/// it describes the uncertainty of a longer run. All compared runs share that uncertainty.
[[nodiscard]] double error_among_launches(const TrialRecord& trial, std::size_t objective,
                                          const LaunchVariation& variation);
[[nodiscard]] double error_among_launches(double value, double standard_error,
                                          const LaunchVariation& variation);

}  // namespace steptune
