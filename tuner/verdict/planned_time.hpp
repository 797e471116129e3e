// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/interval.hpp"
#include "trial_runner/measure/measurement.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Least share of the expected length at which a pause or a run counts as the expected one. A
/// shorter pause has another cause, and a program that ends earlier has given up.
inline constexpr double k_least_of_expected = 0.5;
/// Number of a phase's periods that a run must cover before the phase counts as missing from it.
inline constexpr double k_periods_to_miss = 2.0;

/// True if the phase's name marks stalls: pauses that the program did not report.
[[nodiscard]] bool is_stall(const std::string& phase);

/// Returns the samples from one phase to the next: the observed period or distance. NaN if the only
/// phase came at the start.
[[nodiscard]] double samples_between(const PhaseEstimate& seen);

/// Returns the samples from one phase to the next as the plan declares them. Returns nullopt if the
/// plan counts in steps but the trial's steps are unknown (`Measurement::steps_known`).
[[nodiscard]] std::optional<double> declared_period(const PlannedPhase& declared,
                                                    const Measurement& measurement);

/// True if unreported pauses may be the plan's phase. They must come at least as often as the phase
/// was due, and take at least half as long. The phase is then assumed to be among these pauses.
[[nodiscard]] bool may_be_stalls(const PlannedPhase& declared, const Measurement& measurement);

/// Returns the samples of the planned run, or a million if the study gives no number.
[[nodiscard]] double planned_samples(const PlannedRun& plan);

/// True if the study's planned run is longer than the whole run of a program that ended by itself.
[[nodiscard]] bool is_longer_than(const PlannedRun& plan, const Measurement& whole_run);

/// Returns the time of the planned run. If the study gives no number of samples, returns the time
/// of a million samples in steady state. The time is the sum of three parts, each with its error:
/// steps at their rate, phases at their period, and time spent once. The last part is the start-up
/// and the warm-up's excess. It counts only if the study gives a number of samples.
///
/// The period of a phase is the first that is known: the declared period, the trial's, the period
/// in `other`. The duration of a phase is the first that is known: the trial's, the duration in
/// `other`, the declared duration. A phase costs nothing if it is neither declared nor seen. If it
/// was seen only at the start and its period is unknown, the planned run pays for it once. A
/// declared phase may not be reported, but explained by the trial's unreported pauses
/// (`may_be_stalls`). It then adds nothing, because these pauses are already in the price. If steps
/// were not measured apart from phases, the mean rate gives the price of both.
///
/// `measurement` has a positive, finite rate. `other`: a trial of the same program with another
/// configuration (the baseline), or null. `other` shows phases that the trial was too short to
/// show, such as an evaluation. Stalls belong to a configuration, so stalls of `other` do not
/// count.
[[nodiscard]] MeasuredValue planned_time(const PlannedRun& plan, const Measurement& measurement,
                                         const Measurement* other = nullptr);

/// Returns a sentence for people about each phase that no trial has shown, or only at its start.
/// The sentence says how the phase was priced.
[[nodiscard]] std::vector<std::string> unseen_phases(const PlannedRun& plan,
                                                     const std::vector<TrialRecord>& trials);

/// Returns why a configuration's planned run misses `deadline` or `max_cost`; nullopt if it keeps
/// both.
[[nodiscard]] std::optional<std::string> missed_limit(const PlannedRun& plan,
                                                      const MeasuredValue& time,
                                                      double usd_per_hour);

}  // namespace steptune
