// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/configuration.hpp"
#include "common/json.hpp"
#include "search/observation.hpp"
#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Reason why a trial exists. Confirming runs are fresh launches that confirm a result of the
/// search. The database contains the names, so they must not change.
enum class TrialPurpose {
  baseline,           ///< the user's settings of today; all other trials are compared with them
  hint,               ///< a configuration that the study file names (`try`)
  search,             ///< a configuration that the search has chosen
  sentinel,           ///< the baseline, repeated during the search to show if the machine drifts
  confirm_incumbent,  ///< confirming run of a configuration that is compared with the baseline
  confirm_baseline    ///< confirming run of the baseline, for comparison
};
/// State of a trial. The database contains the names, so they must not change. `launching`: the
/// trial is about to be started. This state is recorded before anything starts.
enum class TrialStatus {
  launching,
  running,
  completed,      ///< measured
  stopped_early,  ///< measured until the loop ended it, usually because it was slow
  infeasible,     ///< measured, but violates a guard or a limit
  failed,         ///< crash, time limit, no reports, no steady state: see `failure`
  out_of_memory,
  interrupted,  ///< ended before it was measured, for example by the user; will be launched again
};
[[nodiscard]] std::string to_text(TrialPurpose purpose);
[[nodiscard]] std::string to_text(TrialStatus status);
[[nodiscard]] std::optional<TrialPurpose> trial_purpose_from_text(std::string_view text);
[[nodiscard]] std::optional<TrialStatus> trial_status_from_text(std::string_view text);
/// True for states that never change.
[[nodiscard]] bool is_final(TrialStatus status);
/// True for the states whose objective values may be ranked.
[[nodiscard]] bool is_ranked(TrialStatus status);
/// True for ranked states and for trials that violate a guard or a limit. These trials keep their
/// measurement.
[[nodiscard]] bool was_measured(TrialStatus status);
/// True for fresh runs that confirm a result of the search.
[[nodiscard]] bool is_confirmation(TrialPurpose purpose);

/// True for the trials that are compared with each other and may be recommended: baseline, hints
/// and search.
[[nodiscard]] bool is_compared(TrialPurpose purpose);
/// True for hints and trials of the search, but not for the baseline.
[[nodiscard]] bool is_searched(TrialPurpose purpose);
/// True for all runs of the baseline: the first one, sentinels, and confirming runs.
[[nodiscard]] bool runs_baseline(TrialPurpose purpose);
/// True for search trials and sentinels, which are compared with the study's first trial.
[[nodiscard]] bool follows_first_trial(TrialPurpose purpose);

/// Slowness of the machine at some point of a study: the time of the same work, divided by its time
/// when the baseline ran.
struct MachineLevel {
  double log_ratio = 0.0;       ///< natural logarithm of that ratio; 0: no drift has been seen
  double standard_error = 0.0;  ///< standard error of `log_ratio`
};

struct TrialRecord {
  std::int64_t number = 0;  ///< 1, 2, 3, ... within the study
  TrialPurpose purpose = TrialPurpose::search;
  int confirm_pair = 0;  ///< number of a confirming run's round: 1, 2, ...; 0 for other trials
  std::string origin;    ///< `baseline`, `try`, `sobol`, `bayes`, ...
  Configuration configuration;
  TrialStatus status = TrialStatus::launching;
  int attempt = 1;    ///< number of the latest attempt (launch); a cut-off trial is launched again
  int lost = 0;       ///< attempts in this run of the tuner that the runner lost; not stored
  std::string token;  ///< token of the latest attempt, for `Runner::adopt`
  double started_wall_s = 0.0;
  double ended_wall_s = 0.0;
  double spent_s = 0.0;  ///< billed seconds, summed over attempts
  double spent_usd = 0.0;
  /// Part of `spent_s` and `spent_usd` for attempts before the latest attempt.
  double earlier_s = 0.0;
  double earlier_usd = 0.0;
  std::optional<Measurement> measurement;
  /// Values measured before the trial's end, for the searcher; stored with the measurement.
  std::vector<Milestone> milestones;
  /// Values measured at the rungs of the scheduler `asha`. A rung is a number of steps at which
  /// trials are compared.
  std::vector<Milestone> rungs;
  /// Objective values as the study states them (not negated); empty if there are none. A value that
  /// is not finite is stored as NULL, reads back as NaN and is never ranked.
  std::vector<double> objectives;
  std::vector<double> standard_errors;  ///< errors of `objectives`; a number that is not finite
                                        ///< reads back as infinite
  std::optional<double> peak_memory_bytes;
  /// As in `Outcome`; kept with the measurement.
  std::optional<double> peak_unreclaimable_bytes;
  std::optional<Disturbance> disturbance;
  double disturbed_s = 0.0;        ///< seconds in which other programs used much of the machine
  std::optional<double> cpu_busy;  ///< as in `Outcome`; kept with the measurement
  /// CPU clock in the measured window, or over the whole trial if there is no window; kept with the
  /// measurement.
  std::optional<CpuClock> cpu_clock;
  std::optional<double> storage_read_bytes;
  std::optional<GpuUse> gpu;
  /// Gain that the searcher expected when it proposed the trial, as a share of the best value of
  /// the first objective until then. Stored with the measurement.
  std::optional<double> expected_improvement;
  /// Machine level that was estimated at the trial's launch. Searcher and scheduler use this level
  /// to compare trials, so that a resumed study makes the same comparisons. Stored with the
  /// measurement.
  MachineLevel level;
  /// Seconds that the loop waited for the first step, if the loop ended the trial for a slow start.
  /// Kept with the measurement.
  std::optional<double> awaited_start_s;
  /// Events that the hook reported about the program (`HookLog::to_json`). Only for the baseline;
  /// kept with the measurement. Null: none.
  Json hook;
  std::string failure;  ///< text for people: why the trial failed, was stopped or is infeasible
  std::map<std::string, std::string> placement;
  std::filesystem::path log_path;
};

/// Returns the billed seconds of the latest attempt. A similar trial takes about as long.
[[nodiscard]] double latest_attempt_s(const TrialRecord& trial);
/// Returns the cost of the latest attempt in USD.
[[nodiscard]] double latest_attempt_usd(const TrialRecord& trial);
/// Prepares another attempt of a trial whose latest attempt was cut off.
void prepare_next_attempt(TrialRecord& trial);

/// Choice to read a trial with or without milestones and rungs. They are half of a trial's stored
/// data, and only a continued search needs them.
enum class Milestones { leave, read };

/// True if the trial is the baseline and was measured, even if it violates a guard.
[[nodiscard]] bool is_measured_baseline(const TrialRecord& trial);
/// Returns the first measured baseline among `trials`; null if there is none.
[[nodiscard]] const TrialRecord* baseline_of(std::span<const TrialRecord> trials);

/// An ended launch of a trial whose first launch did not give the final state.
struct AttemptRecord {
  int attempt = 1;
  TrialStatus status = TrialStatus::interrupted;
  double started_wall_s = 0.0;
  double ended_wall_s = 0.0;
  double spent_s = 0.0;  ///< billed for this launch alone
  double spent_usd = 0.0;
  std::string failure;
};

}  // namespace steptune
