// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "search/early_stopping.hpp"
#include "trial_runner/hooks/hook_log.hpp"
#include "trial_runner/measure/progress_trace.hpp"
#include "trial_runner/measure/rank_measurers.hpp"
#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/guards.hpp"
#include "tuner/loop/progress_bound.hpp"
#include "tuner/loop/trial_result.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/batch_effect.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/objectives.hpp"

namespace steptune {

/// True if the measurement is as precise and as long as `wanted` asks, and the speed has not just
/// changed.
[[nodiscard]] bool is_tight(const Measurement& measurement, const MeasureSpec& wanted);

/// Goals and limits of a trial's measurement.
struct TrialTargets {
  MeasureSpec measure;  ///< the study's, adapted to the trial's purpose
  /// Least samples in the window, as far as `max_trial_s` allows: some periods of all known phases.
  double min_window_samples = 0.0;
  /// Least steps in the window, unless the window is `long_look_s` long.
  double long_look_steps = 0.0;
  double long_look_s = 0.0;
  /// Seconds after start-up from which any interval suffices: the trial's share of a time budget.
  double share_s = std::numeric_limits<double>::infinity();
  /// Longest time from the start to the first step (`longest_start_s`).
  double longest_start_s = std::numeric_limits<double>::infinity();
  /// Duration of the study's longest trial; 0 before any was measured.
  double longest_trial_s = 0.0;
  /// End of the trial's part of a time budget, on the loop's clock. The trial then ends with the
  /// measurement so far, but not before it has run for `least_s`.
  double budget_end_s = std::numeric_limits<double>::infinity();
  double least_s = 0.0;
  /// Seconds from the start, for a trial that cannot be ended on request (`TrialSpec::enough_s`).
  double enough_s = std::numeric_limits<double>::infinity();
  std::optional<SlowLimit> slow_limit{};  ///< as in `TrialSpec`
  int interleaved_round = 0;              ///< as in `TrialSpec`
  /// Upper end of the incumbent's interval, as the first objective; less is better. A trial that is
  /// certainly slower needs no further measuring. Unset: no such limit.
  std::optional<double> to_beat{};
  /// True if an earlier trial of this configuration came as far as the guards ask and kept them. If
  /// a fresh run is too short for a guard, that guard is not judged again.
  bool kept_guards = false;
  /// The baseline's seconds per sample. A confirming run continues until a buffer that is not
  /// drained yet can hide at most a third of the run's gain. Unset: no such wait.
  std::optional<double> baseline_seconds_per_sample{};
  double usual_variance_s = 0.0;  ///< as in `MeasureOptions`
  LaunchVariation launches{};     ///< of the study's trials so far
  BatchApplied batch_applied = BatchApplied::unknown;
};

/// Sets a long look for the study's first trial. All other trials are compared with it, and no
/// earlier trial shows how much steps vary. Asks for at least seven times as many steps as in other
/// trials. The look ends earlier after ten times the least window, or after half of the trial's
/// share of a time budget. (With a money budget, a twentieth of it is a limit, too:
/// `Tuning::targets_of`.)
void look_for_long(TrialTargets& targets);
/// True if the window has the steps or the seconds of the long look.
[[nodiscard]] bool was_looked_at_for_long(const Measurement& measurement,
                                          const TrialTargets& targets);

/// A running trial. Collects its reports and decides when it ends.
class RunningTrial {
 public:
  /// `study` outlives the object. `now_s` is the start until `started` gives the real one.
  RunningTrial(const StudySpec& study, TrialRecord record, double now_s, TrialTargets targets);

  void started(const TrialStarted& event);
  void reported(const Report& report);
  void disturbed(const TrialDisturbed& event);
  /// Returns true if the trial cannot be interleaved and must be stopped for that reason.
  [[nodiscard]] bool paused(const TrialPaused& event);

  /// Checks the measurement, and asks for the trial's end at most once in its life. `baseline` is
  /// null until it has been measured. Returns true if the trial is to be stopped now.
  [[nodiscard]] bool wants_to_end(Scheduler& scheduler, Searcher& searcher,
                                  const TrialRecord* baseline);
  /// Does the same for the trial's time limits. Returns true if the trial is to be stopped now.
  [[nodiscard]] bool out_of_time(double now_s);
  /// Returns when the next time limit is reached; infinite if never.
  [[nodiscard]] double deadline_s() const;
  /// Asks for an end after which the trial can be launched again (`interrupts`). Returns false and
  /// does nothing if an end was already asked for.
  bool interrupt(EndRequest request);
  /// Asks for an end as failed, because nothing is read from its output. Returns false and does
  /// nothing if an end was already asked for.
  bool refuse(std::string why);

  /// Returns the trial's final record. `outcome`: the end as the runner reports it.
  [[nodiscard]] TrialRecord finished(const Outcome& outcome, const TrialRecord* baseline,
                                     double wall_time_s);

  /// Returns the trial's events for the history, including the points at both ends of the window of
  /// `measured`. `measured`: the measurement from `finished`; nullopt if there is none.
  [[nodiscard]] TrialTrace trace(const std::optional<Measurement>& measured) const;

  [[nodiscard]] const TrialRecord& record() const { return record_; }
  [[nodiscard]] double started_s() const { return started_s_; }
  /// Returns the seconds that the trial has run, without pauses.
  [[nodiscard]] double ran_s(double now_s) const { return trial_time_s(now_s) - started_s_; }
  /// True if the trial failed next to another trial, or could not be stopped for another trial.
  [[nodiscard]] bool cannot_be_interleaved() const { return request_ == EndRequest::interleaved; }
  /// True if the trial was asked to end because its part of a time budget was over and too little
  /// was measured.
  [[nodiscard]] bool lacked_time() const { return request_ == EndRequest::no_time; }
  /// True if a report since the trial's start had samples or steps.
  [[nodiscard]] bool has_told_progress() const;
  /// Returns the on-demand price of a second of the trial's machines, the most that a second can
  /// cost.
  [[nodiscard]] double usd_per_billed_s() const { return usd_per_billed_s_; }
  [[nodiscard]] const Measurement& measurement() const { return measurer_.current(); }
  [[nodiscard]] TrialKey key() const { return {record_.number, record_.attempt}; }

 private:
  /// True for search trials and sentinels, which are compared with the study's first trial.
  [[nodiscard]] bool is_beside_baseline() const;
  /// Returns the measurement as it is compared with the baseline if `is_beside_baseline`, otherwise
  /// unchanged.
  [[nodiscard]] Measurement compared(const Measurement& measurement,
                                     const TrialRecord* baseline) const;
  [[nodiscard]] tl::expected<ObjectiveValues, std::string> objectives_now(
      const TrialRecord* baseline) const;
  [[nodiscard]] bool is_measured() const;
  [[nodiscard]] bool is_clearly_slower(const TrialRecord* baseline) const;
  [[nodiscard]] bool may_be_buffered() const;
  /// True if a guard will judge the trial but has not seen enough of it yet.
  [[nodiscard]] bool awaits_guard() const;
  /// Returns which settings have no effect although the program has been training for a while.
  [[nodiscard]] std::optional<std::string> settled_difference() const;
  [[nodiscard]] bool is_given_up(Scheduler& scheduler, Searcher& searcher,
                                 const TrialRecord* baseline);
  /// Returns why the samples of a step differ from those in the study, as far as the trial was
  /// measured; nullopt if they may be right.
  [[nodiscard]] std::optional<std::string> unlike_batch(const Measurement& measurement,
                                                        const TrialRecord* baseline) const;
  /// Returns when a trial with reports is ended, so that the runner's wall limit does not turn it
  /// into a failure; infinite before any report.
  [[nodiscard]] double before_wall_s() const;
  /// Returns the loop's time as if the trial had never been paused. Its reports and limits use this
  /// time; the limit of the budget does not.
  [[nodiscard]] double trial_time_s(double now_s) const {
    return paused_since_s_.value_or(now_s) - paused_s_;
  }
  /// Returns the earliest of the start limit, the silence limit and the trial's own limit.
  [[nodiscard]] double first_limit_s() const;
  /// Returns when the trial's part of a time budget is over.
  [[nodiscard]] double budget_end_s() const;
  /// Returns the deadline for the trial's first step.
  [[nodiscard]] double start_limit_s() const;
  [[nodiscard]] std::string why_no_start(double waited_s) const;
  /// Returns when a search trial without further progress counts as hung; infinite if time is not
  /// limited.
  [[nodiscard]] double silence_limit_s() const;
  /// Returns when the trial has been measured for as long as it may, whatever the budget.
  [[nodiscard]] double own_limit_s() const;
  /// Returns the longest time after start-up if the trial was found to have no steady state. The
  /// baseline gets more time, because no study continues without one.
  [[nodiscard]] double longest_without_steady_state_s() const;
  /// True if the trial is measured in a program shared with other trials (`k_shared_program`).
  [[nodiscard]] bool shares_program() const;
  /// True if the trial is also measured in turns with the baseline.
  [[nodiscard]] bool takes_turns() const;
  /// Returns the end of the trial's time, on the clock of its reports.
  [[nodiscard]] double own_end_s() const;
  /// Sets the request. Always returns true, for callers that return if an end was asked for.
  bool ask_for_end(EndRequest request, std::string reason);
  /// Returns for how long the trial had reported no step when its time was over. Returns 0 if that
  /// was not most of its time, or if a phase was under way. Also returns 0 in a shared program,
  /// whose reports use another clock.
  [[nodiscard]] double silent_end_s() const;
  /// Returns the measurement that counts, adapted to the reason for the end.
  [[nodiscard]] Measurement final_measurement() const;
  /// Returns the same, or the measurement of the whole run if the program ran to its end by itself.
  [[nodiscard]] Measurement measurement_at_end(const Outcome& outcome,
                                               const TrialRecord* baseline) const;
  /// True if the trial was ended because it is slow.
  [[nodiscard]] bool was_cut_short(const Outcome& outcome) const;
  /// Returns the guard or the memory limit that the trial violated; nullopt if none.
  [[nodiscard]] std::optional<std::string> violation(const Outcome& outcome,
                                                     const GuardedValues& guarded,
                                                     const TrialRecord* baseline) const;
  /// Sets the reason for the trial's end if only the outcome shows that reason.
  void settle_request(const Outcome& outcome);
  struct Findings;
  /// Collects what is known at the end. Removes the file of the hook's events.
  [[nodiscard]] Findings findings(const Outcome& outcome, const TrialRecord* baseline) const;
  [[nodiscard]] TrialEnding ending_of(const Outcome& outcome, const Findings& found,
                                      const TrialRecord* baseline) const;
  /// Returns `failed` if the runner has lost the trial too often, otherwise `ended`.
  [[nodiscard]] TrialStatus status_after(TrialStatus ended) const;
  void record_usage(const Outcome& outcome);
  /// Records the machine's state, its clocks in the measured window, and the cause of each change
  /// of level.
  void record_machine(const Outcome& outcome, Measurement& measurement);

  const StudySpec* study_;
  TrialTargets targets_;
  TrialRecord record_;
  RankMeasurers measurer_;
  ProgressTracer tracer_;
  std::vector<DisturbedTime> disturbed_;
  std::vector<MachineSecond> machine_;
  std::vector<TrialDecision> decisions_;
  ProgressBound progress_;
  EarlyStopping early_stopping_;
  GuardWindows guarded_;
  HookLog hook_;
  double usd_per_hour_;  ///< expected price of the planned run
  double usd_per_billed_s_;
  double started_s_;
  double program_startup_s_ = 0.0;  ///< start-up of the shared program, before this trial
  double disturbed_until_s_ = 0.0;
  std::optional<double> paused_since_s_;
  double paused_s_ = 0.0;                ///< sum of the pauses that are over
  std::optional<double> told_resource_;  ///< window steps that the scheduler has seen
  EndRequest request_ = EndRequest::none;
  std::string request_reason_;
  bool is_slower_ = false;  ///< certainly slower than the best trial
  double requested_s_ = 0.0;
  double reported_s_ = 0.0;    ///< when the latest report came
  double progressed_s_ = 0.0;  ///< when the latest counter or phase came
  bool in_phase_ = false;      ///< rank 0 began a phase in its latest report
  /// Measurement when the end was asked for. Reports that follow do not count.
  std::optional<Measurement> at_request_;
};

}  // namespace steptune
