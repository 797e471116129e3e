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

/// Whether a trial that ended now would have measured as surely as the study wants, and on as much.
[[nodiscard]] bool is_tight(const Measurement& measurement, const MeasureSpec& wanted);

/// What a trial is measured for.
struct TrialTargets {
  MeasureSpec measure;  ///< the study's, or what the trial's purpose makes of it
  /// And over no fewer samples, as far as `max_trial_s` lets: some periods of all phases known.
  double min_window_samples = 0.0;
  /// And over so many steps, unless it has been measured for so long before.
  double long_look_steps = 0.0;
  double long_look_s = 0.0;
  /// After so long any interval will do: the trial's share of a budget of time.
  double share_s = std::numeric_limits<double>::infinity();
  /// From its start to its first step at most (`longest_start_s`).
  double longest_start_s = std::numeric_limits<double>::infinity();
  /// What the longest trial of the study took as a whole; 0 before any was measured.
  double longest_trial_s = 0.0;
  /// When its part of a budget of time is over, on the loop's clock: it ends with what it has
  /// measured by then, but not before it has run for `least_s`.
  double budget_end_s = std::numeric_limits<double>::infinity();
  double least_s = 0.0;
  /// From its start, where it cannot be asked to end (`TrialSpec::enough_s`).
  double enough_s = std::numeric_limits<double>::infinity();
  std::optional<SlowLimit> slow_limit{};  ///< likewise (`TrialSpec::slow_limit`)
  int interleaved_round = 0;              ///< likewise (`TrialSpec::interleaved_round`)
  /// A trial that is slower than this for certain has been measured well enough: the incumbent's
  /// upper end, as the first objective, less being better. Nothing: measured like any.
  std::optional<double> to_beat{};
  /// A trial of its configuration has been judged by the guards and kept them: what a fresh run is
  /// too short to reach speaks neither for it nor against it.
  bool kept_guards = false;
  /// The baseline's seconds per sample. A confirming run goes on until a buffer that is not drained
  /// yet can hide no more than a third of what the run is faster by. Nothing: no such wait.
  std::optional<double> baseline_seconds_per_sample{};
  double usual_variance_s = 0.0;  ///< as in `MeasureOptions`
  LaunchVariation launches{};     ///< of the study's trials so far
  BatchApplied batch_applied = BatchApplied::unknown;
};

/// The study's first trial, which all others are compared with, has none to learn from how much
/// steps vary: it is measured over seven times as many steps as others at least, as long as that
/// takes no more than ten times as long, nor more than half of its share of a budget of time.
/// (Where money is what is limited, a twentieth of it sets a limit, too: `Tuning::targets_of`.)
void look_for_long(TrialTargets& targets);
[[nodiscard]] bool was_looked_at_for_long(const Measurement& measurement,
                                          const TrialTargets& targets);

/// A trial under way: what it has reported, and whether it is to go on.
class RunningTrial {
 public:
  /// `study` outlives the object. `now_s` serves as the start until `started` tells it.
  RunningTrial(const StudySpec& study, TrialRecord record, double now_s, TrialTargets targets);

  void started(const TrialStarted& event);
  void reported(const Report& report);
  void disturbed(const TrialDisturbed& event);
  /// True if the trial cannot be interleaved and is to be stopped for that.
  [[nodiscard]] bool paused(const TrialPaused& event);

  /// Looks at the measurement and asks, at most once in a trial's life, for its end. `baseline` is
  /// null until it has been measured. Returns true when the trial is to be stopped now.
  [[nodiscard]] bool wants_to_end(Scheduler& scheduler, Searcher& searcher,
                                  const TrialRecord* baseline);
  /// The same for the time that a trial has; `deadline_s` tells when, infinite if never.
  [[nodiscard]] bool out_of_time(double now_s);
  [[nodiscard]] double deadline_s() const;
  /// Asks for an end after which the trial can be launched again (`interrupts`); false, and without
  /// effect, if its end was asked for before.
  bool interrupt(EndRequest request);
  /// Asks for an end as failed, because nothing is read from its output; false, and without effect,
  /// if its end was asked for before.
  bool refuse(std::string why);

  /// The trial's final record, from how the runner says it ended.
  [[nodiscard]] TrialRecord finished(const Outcome& outcome, const TrialRecord* baseline,
                                     double wall_time_s);

  /// What has happened, for the history. Points at both ends of the window of `measured`, which
  /// `finished` tells, stay; nothing: none was measured.
  [[nodiscard]] TrialTrace trace(const std::optional<Measurement>& measured) const;

  [[nodiscard]] const TrialRecord& record() const { return record_; }
  [[nodiscard]] double started_s() const { return started_s_; }
  /// Seconds that it has run, without pauses.
  [[nodiscard]] double ran_s(double now_s) const { return trial_time_s(now_s) - started_s_; }
  /// True if it failed next to another trial, or could not be stopped for one.
  [[nodiscard]] bool cannot_be_interleaved() const { return request_ == EndRequest::interleaved; }
  /// Whether its end was asked for since its part of a budget of time was over, and too little
  /// seen.
  [[nodiscard]] bool lacked_time() const { return request_ == EndRequest::no_time; }
  /// Whether any report told samples or steps since it started.
  [[nodiscard]] bool has_told_progress() const;
  /// What a billed second of the trial's machines costs, and the most that a second can.
  [[nodiscard]] double usd_per_billed_s() const { return usd_per_billed_s_; }
  [[nodiscard]] const Measurement& measurement() const { return measurer_.current(); }
  [[nodiscard]] TrialKey key() const { return {record_.number, record_.attempt}; }

 private:
  /// Of the search, or a sentinel: compared with the study's first trial.
  [[nodiscard]] bool is_beside_baseline() const;
  /// Such a trial as it is compared with the baseline; others as they are.
  [[nodiscard]] Measurement compared(const Measurement& measurement,
                                     const TrialRecord* baseline) const;
  [[nodiscard]] tl::expected<ObjectiveValues, std::string> objectives_now(
      const TrialRecord* baseline) const;
  [[nodiscard]] bool is_measured() const;
  [[nodiscard]] bool is_clearly_slower(const TrialRecord* baseline) const;
  [[nodiscard]] bool may_be_buffered() const;
  /// Whether it is to be judged by a guard that it has not reached yet.
  [[nodiscard]] bool awaits_guard() const;
  /// What of the configuration is not in force although the program has been training for a while.
  [[nodiscard]] std::optional<std::string> settled_difference() const;
  [[nodiscard]] bool is_given_up(Scheduler& scheduler, Searcher& searcher,
                                 const TrialRecord* baseline);
  /// Why the samples of a step are not those that the study says, as far as it was measured;
  /// nothing: they may be.
  [[nodiscard]] std::optional<std::string> unlike_batch(const Measurement& measurement,
                                                        const TrialRecord* baseline) const;
  /// When a trial that has reported anything is ended, lest the runner's wall limit makes a failure
  /// of what was seen; infinite before that.
  [[nodiscard]] double before_wall_s() const;
  /// The loop's clock as if the trial had never been paused. Its reports and limits go by this
  /// clock; the limit of the budget does not.
  [[nodiscard]] double trial_time_s(double now_s) const {
    return paused_since_s_.value_or(now_s) - paused_s_;
  }
  /// When the first of these limits is reached.
  [[nodiscard]] double first_limit_s() const;
  /// When its part of the budget of time is over.
  [[nodiscard]] double budget_end_s() const;
  /// When its first step is to have come.
  [[nodiscard]] double start_limit_s() const;
  [[nodiscard]] std::string why_no_start(double waited_s) const;
  /// When a trial of the search that has told nothing since is taken to hang, where time is
  /// limited.
  [[nodiscard]] double silence_limit_s() const;
  /// When it has been measured for as long as it may, whatever the budget.
  [[nodiscard]] double own_limit_s() const;
  /// After its start-up, where it was found to have none; the baseline's is longer, as no study
  /// goes on without one.
  [[nodiscard]] double longest_without_steady_state_s() const;
  /// Measured in a program that others share (`k_shared_program`), and there in turns with the
  /// baseline.
  [[nodiscard]] bool shares_program() const;
  [[nodiscard]] bool takes_turns() const;
  /// When its time was over, on the clock of its reports.
  [[nodiscard]] double own_end_s() const;
  /// True, for whoever returns that its end was asked for.
  bool ask_for_end(EndRequest request, std::string reason);
  /// How long it had told no step when its time was over, where that was most of its time and no
  /// phase was under way; else 0, as in a shared program, whose reports have a clock of their own.
  [[nodiscard]] double silent_end_s() const;
  /// The measurement that counts, and what it is worth.
  [[nodiscard]] Measurement final_measurement() const;
  /// The same, or that of the whole run where the program ended by itself and that was its end.
  [[nodiscard]] Measurement measurement_at_end(const Outcome& outcome,
                                               const TrialRecord* baseline) const;
  /// Whether it was given up for its speed.
  [[nodiscard]] bool was_cut_short(const Outcome& outcome) const;
  /// The guard or the limit of memory that it has not respected by its end; nothing: all are.
  [[nodiscard]] std::optional<std::string> violation(const Outcome& outcome,
                                                     const GuardedValues& guarded,
                                                     const TrialRecord* baseline) const;
  /// Why it ended, as far as that is known only now.
  void settle_request(const Outcome& outcome);
  struct Findings;
  /// The file of its hook's events is removed.
  [[nodiscard]] Findings findings(const Outcome& outcome, const TrialRecord* baseline) const;
  [[nodiscard]] TrialEnding ending_of(const Outcome& outcome, const Findings& found,
                                      const TrialRecord* baseline) const;
  /// What the runner lost is launched again, but not for ever.
  [[nodiscard]] TrialStatus status_after(TrialStatus ended) const;
  void record_usage(const Outcome& outcome);
  /// What the machine did, its clocks in the measured window, and what explains a changed level.
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
  double usd_per_hour_;  ///< as the planned run is expected to be billed
  double usd_per_billed_s_;
  double started_s_;
  double program_startup_s_ = 0.0;  ///< of the shared program, before
  double disturbed_until_s_ = 0.0;
  std::optional<double> paused_since_s_;
  double paused_s_ = 0.0;                ///< in all pauses that are over
  std::optional<double> told_resource_;  ///< that the scheduler has seen
  EndRequest request_ = EndRequest::none;
  std::string request_reason_;
  bool is_slower_ = false;  ///< measured well enough to know that
  double requested_s_ = 0.0;
  double reported_s_ = 0.0;    ///< when the latest report came
  double progressed_s_ = 0.0;  ///< when the latest counter or phase came
  bool in_phase_ = false;      ///< which rank 0 began by its latest report
  /// As it was when the scheduler gave the trial up: what follows until it is gone counts no more.
  std::optional<Measurement> at_request_;
};

}  // namespace steptune
