// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/measure/measurement.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Seconds with their standard error.
struct UncertainSeconds {
  double seconds = 0.0;
  double standard_error = 0.0;
};

/// Whether a phase's name is that of stalls, which no one reported.
[[nodiscard]] bool is_stall(const std::string& phase);

/// Samples from one phase to the next: the period that was seen, or `total_samples`, the trial's
/// length, by the number of phases.
[[nodiscard]] double samples_between(const PhaseEstimate& seen, double total_samples);

/// Samples from one phase to the next as the plan declares them, in steps of `measurement`; nothing
/// where it tells steps and a report counts as a step, so that a number of steps says nothing.
[[nodiscard]] std::optional<double> declared_period(const PlannedPhase& declared,
                                                    const Measurement& measurement);

/// Whether pauses that nobody reports came as often as the plan's phase was due, and about as long:
/// then it is taken to be among them.
[[nodiscard]] bool may_be_stalls(const PlannedPhase& declared, const Measurement& measurement);

/// How many samples the planned run processes, or a million where the study tells no number.
[[nodiscard]] double planned_samples(const PlannedRun& plan);

/// Whether the study tells that the planned run is longer than all that a program did whose trial
/// came to its own end.
[[nodiscard]] bool is_longer_than(const PlannedRun& plan, const Measurement& whole_run);

/// The time of the planned run, or of a million samples in steady state where the study tells no
/// number of samples: what is paid once (start-up and the warm-up's excess; planned run only),
/// steps at their rate, and phases at their period. Each part brings its error.
///
/// How often a phase comes is what the plan declares, else what the trial showed. How long it takes
/// is what the trial showed, else what `other` did, else what the plan says. A phase that neither
/// declares nor shows costs nothing, nor does a declared one that nobody reports where the trial
/// pauses as often and about as long: it is in the price as these pauses. A measurement that does
/// not know its steps apart from its phases is priced by its mean rate.
///
/// `measurement` has a positive, finite rate. `other`: a trial of the same program under another
/// configuration (the baseline), null where there is none: so that a trial too short for an
/// evaluation is not taken for one that needs none. What the program does not report (stalls) is
/// the configuration's own and not taken from it.
[[nodiscard]] UncertainSeconds planned_time(const PlannedRun& plan, const Measurement& measurement,
                                            const Measurement* other = nullptr);

/// What the plan declares and no trial has shown, and with what it was priced; for people.
[[nodiscard]] std::vector<std::string> unseen_phases(const PlannedRun& plan,
                                                     const std::vector<TrialRecord>& trials);

/// Why a configuration's planned run misses `deadline` or `max_cost`; nothing if it keeps both.
[[nodiscard]] std::optional<std::string> missed_limit(const PlannedRun& plan,
                                                      const UncertainSeconds& time,
                                                      double usd_per_hour);

}  // namespace steptune
