// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/machine_holder.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/loop/recorder.hpp"
#include "tuner/loop/running_trials.hpp"
#include "tuner/loop/stopwatch.hpp"
#include "tuner/loop/trial_warnings.hpp"
#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/payback.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// True if running the study again continues it after this end.
[[nodiscard]] bool is_to_be_continued(LoopEnd end);

/// State of a study after the last run of the tuner.
struct FormerRun {
  StudyStatus status = StudyStatus::running;
  bool unchanged = true;  ///< the study's budget, search and measuring have not changed since
};

/// One run of the tuner over one study: carries out `run_loop`, phase by phase.
class Tuning {
 public:
  /// `study` is the history's record. `parts` outlives the object. `former`: unset for a new study.
  /// If the former run was killed (`running`), this run decides as if nothing had happened.
  Tuning(const LoopParts& parts, StudyRecord study, std::optional<FormerRun> former);
  Tuning(const Tuning&) = delete;
  Tuning& operator=(const Tuning&) = delete;

  /// Resumes, searches, confirms, concludes. On an error, ends the running trials and records them
  /// as interrupted, as far as the history allows.
  [[nodiscard]] Result<LoopResult> run();

 private:
  struct End {
    LoopEnd end = LoopEnd::budget;
    std::string reason;                  ///< for people
    std::optional<BudgetLimit> spent{};  ///< by `LoopEnd::budget`
  };
  [[nodiscard]] static End end_by(SpentBudget spent);

  [[nodiscard]] Result<LoopResult> run_phases();
  [[nodiscard]] Result<void> resume();
  /// Gives the trials that ended before to searcher and scheduler, in the order of their ends.
  void learn_from(std::vector<const TrialRecord*> ended);
  /// Queues the trials that the last run of the tuner left open. They run again, unless they may be
  /// the cause of its death.
  [[nodiscard]] Result<void> keep_pending(std::vector<TrialRecord> cut_off);
  /// Records a trial as interrupted that ran when the tuner was killed, with the time of its last
  /// attempt.
  [[nodiscard]] Result<void> record_killed(TrialRecord& trial);
  /// Resumes a confirmation that was cut off. Finds out if the search before it was over, and why.
  [[nodiscard]] Result<void> resume_confirmation();
  /// Returns the recorded reason for the end of the last search; nullopt if the search has
  /// continued since.
  [[nodiscard]] Result<std::optional<End>> recorded_end() const;
  [[nodiscard]] Result<void> search();
  [[nodiscard]] Result<void> confirm();
  /// True if the study's kind allows further search after a confirmation.
  [[nodiscard]] bool may_search_on() const;
  /// True if the search continues: after the confirmation, the time budget is enough for another
  /// trial and its proof.
  [[nodiscard]] bool searches_on() const;
  /// True if there is time for another trial, but no further configuration may be confirmed.
  [[nodiscard]] bool leaves_time() const;
  /// Gives back machines that the runner keeps for trials, because no trial will follow.
  void release();
  [[nodiscard]] Result<LoopResult> conclude();
  /// Returns why the study keeps its baseline, for the end of its reason.
  [[nodiscard]] std::string why_nothing_faster() const;
  [[nodiscard]] std::string why_none_feasible() const;
  /// Returns which trials were ended because their first step was late; empty if none.
  [[nodiscard]] std::string who_did_not_start() const;

  /// Returns the next search trial if one is to be launched now. Sets `end_` if there will be none.
  [[nodiscard]] Result<std::optional<TrialRecord>> next_search_trial();
  /// Returns the next trial to run again. `confirming`: the search is over; before that, confirming
  /// runs wait.
  [[nodiscard]] std::optional<TrialRecord> next_pending(bool confirming);
  [[nodiscard]] std::optional<TrialRecord> next_sentinel(bool search_is_over) const;
  [[nodiscard]] std::optional<TrialRecord> next_hint() const;
  /// Returns a trial that repeats one that other programs disturbed.
  [[nodiscard]] std::optional<TrialRecord> next_disturbed() const;
  [[nodiscard]] Result<std::optional<TrialRecord>> next_suggestion();
  /// Returns a trial of the best configuration with fewer changes.
  [[nodiscard]] std::optional<TrialRecord> next_reduction() const;
  /// True if the rest of the budget is only enough for the trials that are kept for fewer changes.
  [[nodiscard]] bool ends_soon(Spending spending) const;
  /// True if the trials have shown that nothing is to be gained.
  [[nodiscard]] bool is_nothing_to_gain() const;
  /// True if two trials have values, so that a model can distinguish configurations.
  [[nodiscard]] bool tells_differences() const;
  [[nodiscard]] std::optional<TrialRecord> next_confirmation() const;
  /// Adds or replaces a trial. Whatever is derived from the trials is then computed again.
  void put(TrialRecord trial);
  [[nodiscard]] const Confirmation& confirmation() const;
  [[nodiscard]] ConfirmLimits confirm_limits() const;
  [[nodiscard]] TrialTargets targets_of(const TrialRecord& trial) const;
  /// Sets the additional targets of a confirming run.
  void set_confirming(TrialTargets& targets, const TrialRecord& trial, double startup_s) const;
  /// Sets a trial's limits by the time budget. `trial` is already in the standing.
  void set_time(TrialTargets& targets, const TrialRecord& trial, double startup_s) const;
  [[nodiscard]] TrialRecord new_trial(TrialPurpose purpose, std::string origin,
                                      Configuration configuration) const;

  /// True if the search may hand over another trial in addition to the running ones.
  [[nodiscard]] bool takes_another() const;
  /// Launches more confirming runs that are certain to be needed, as far as there are places.
  [[nodiscard]] Result<void> launch_more_rounds();
  /// Returns the most trials that may still be launched; nullopt if that is not known.
  [[nodiscard]] std::optional<std::int64_t> further_trials() const;
  /// Returns the trial with the current estimate of the machine's speed.
  [[nodiscard]] TrialRecord at_present_level(TrialRecord trial) const;
  [[nodiscard]] Result<void> launch(TrialRecord trial);
  /// Gives a warning to the listener. `trial`: its number if the text is about one trial.
  void warn_of(std::optional<std::int64_t> trial, const std::string& text) const;
  /// Records a decision and gives its text to the listener.
  void tell(StudyDecision decision);
  /// True if this configuration has no confirming run yet.
  [[nodiscard]] bool is_first_of_finalist(const TrialRecord& trial) const;
  /// Ends the search for lack of time, unless it has already ended.
  void end_for_time();
  /// Ends the trials that still wait for machines when the time to wait is over. Tells the user.
  void withdraw_waiting();
  /// Drops the trials that should run again but have no time left; a run with more time repeats
  /// them. Tells the user.
  void leave_cut_off();
  /// True if a trial that was withdrawn, cut off or lost has no time for another attempt.
  [[nodiscard]] bool is_too_late_for(TrialPurpose purpose) const;
  /// Waits a moment for events. Handles the trials that end, and the user's request to stop.
  [[nodiscard]] Result<void> listen();
  [[nodiscard]] Result<void> stop_for_user();
  [[nodiscard]] Result<void> detach();
  void forward_notices();
  /// Ends a first trial if nothing will be read from its output.
  void end_unread_trial();
  [[nodiscard]] Result<void> on_ended(const TrialRecord& trial);
  /// Records the decisions that follow from a sentinel or a confirming run.
  void conclude_from(const TrialRecord& trial);
  void count_failures(const TrialRecord& trial);
  void observe(const TrialRecord& trial, const LaunchVariation& launches);
  /// Gives the values of an ended trial to the scheduler for comparison, or removes the trial from
  /// it if it does not count.
  void tell_scheduler(const TrialRecord& trial);
  void check_baseline(const TrialRecord& baseline);
  /// Reports once how far the budget goes for a program with this start-up.
  void tell_course(double startup_s);
  [[nodiscard]] bool baseline_is_open() const;
  /// True if trials run on this machine by themselves; interleaved ones count as such.
  [[nodiscard]] bool runs_one_at_a_time() const;
  /// True if the runs of a confirming round are interleaved (`TrialSpec::interleaved_round`).
  [[nodiscard]] bool interleaves() const;
  /// Launches the other runs of `round`, which are interleaved with its first run.
  [[nodiscard]] Result<void> launch_rest_of_round(int round);
  [[nodiscard]] int interrupts() const;
  [[nodiscard]] Spending spending() const;
  /// Returns `spending` with the current time and money, including running trials.
  [[nodiscard]] Spending as_of_now(Spending spending) const;
  [[nodiscard]] bool time_is_over() const;
  /// True if the rest of the time budget is kept for the confirmation.
  [[nodiscard]] bool search_time_is_over() const;
  /// Returns the expected price of a trial, including the start of its machines, in the unit of
  /// observed prices.
  [[nodiscard]] double trial_price(const Configuration& configuration) const;
  /// True if the money budget allows one more trial, whatever it costs.
  [[nodiscard]] bool can_pay_another() const;

  const LoopParts& parts_;
  StudyRecord study_;
  std::optional<FormerRun> former_;
  MachineHolder& machines_;
  Stopwatch stopwatch_;
  RunnerEvents events_;
  Recorder recorder_;
  RunningTrials running_;
  Standing standing_;  ///< all trials; running ones as they were launched
  /// Confirmation that follows from `standing_`; unset if not needed since the last change.
  mutable std::optional<Confirmation> confirmation_;
  std::deque<TrialRecord> pending_;  ///< trials to launch again, with `attempt` already increased
  PaybackRule payback_;
  TrialWarnings warnings_;
  std::optional<End> end_;
  std::optional<double> expected_improvement_;  ///< of the latest suggestion
  bool waits_for_results_ = false;  ///< the searcher has no suggestion until a running trial ends
  std::size_t withdrawn_ = 0;       ///< trials that no longer wait for machines
  std::vector<std::int64_t> cut_off_;  ///< trials without time to run again
  bool told_course_ = false;
  bool told_of_interleaving_ = false;
  bool confirmed_ = false;  ///< the search goes on after a confirmation
  int failures_in_a_row_ = 0;
  std::string last_failure_;
  std::string left_running_;
};

}  // namespace steptune
