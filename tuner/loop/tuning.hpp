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

/// True for ends after which running the study again goes on with it.
[[nodiscard]] bool is_to_be_continued(LoopEnd end);

/// What the last run of the tuner left of a study.
struct FormerRun {
  StudyStatus status = StudyStatus::running;
  bool unchanged = true;  ///< the study's budget, search and measuring are as they were then
};

/// One run of the tuner over one study: what `run_loop` does, phase by phase.
class Tuning {
 public:
  /// `study` is the history's record; parts outlive the object.
  /// `former`: nothing where there was none. After one that was killed (`running`) this one decides
  /// as if nothing had happened.
  Tuning(const LoopParts& parts, StudyRecord study, std::optional<FormerRun> former);
  Tuning(const Tuning&) = delete;
  Tuning& operator=(const Tuning&) = delete;

  /// Resumes, searches, confirms, concludes. On an error the trials under way are ended and
  /// recorded as interrupted, as far as the history lets.
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
  /// What trials that had ended before tell searcher and scheduler, in the order of their ends.
  void learn_from(std::vector<const TrialRecord*> ended);
  /// Trials that the last run of the tuner left open: they run again, unless they may be what kills
  /// it.
  [[nodiscard]] Result<void> keep_pending(std::vector<TrialRecord> cut_off);
  /// Of one that ran when the last run of the tuner was killed: what it took is its last attempt's.
  [[nodiscard]] Result<void> record_killed(TrialRecord& trial);
  /// Of a confirmation that was cut off: whether the search before it was over, and why.
  [[nodiscard]] Result<void> resume_confirmation();
  /// Why the last search was over, as it was recorded; nothing where it went on since.
  [[nodiscard]] Result<std::optional<End>> recorded_end() const;
  [[nodiscard]] Result<void> search();
  [[nodiscard]] Result<void> confirm();
  /// Whether the study's kind lets the search go on after a confirmation.
  [[nodiscard]] bool may_search_on() const;
  /// Whether what a confirmation left of the budget of time is enough for another trial and its
  /// proof.
  [[nodiscard]] bool searches_on() const;
  /// Whether there is time for another trial, but not for what it found to be confirmed.
  [[nodiscard]] bool leaves_time() const;
  /// Gives back what the runner keeps for trials, now that none will follow.
  void release();
  [[nodiscard]] Result<LoopResult> conclude();
  /// What a study that keeps its baseline is said to have ended for, behind its budget.
  [[nodiscard]] std::string why_nothing_faster() const;
  [[nodiscard]] std::string why_none_feasible() const;
  /// Which trials were ended since their first step did not come in time; empty if none.
  [[nodiscard]] std::string who_did_not_start() const;

  /// The next trial of the search, if one is to be launched now; sets `end_` when there is to be
  /// none.
  [[nodiscard]] Result<std::optional<TrialRecord>> next_search_trial();
  /// `confirming`: the search is over; until then confirming runs wait.
  [[nodiscard]] std::optional<TrialRecord> next_pending(bool confirming);
  [[nodiscard]] std::optional<TrialRecord> next_sentinel(bool search_is_over) const;
  [[nodiscard]] std::optional<TrialRecord> next_hint() const;
  /// One that others disturbed, to be measured again.
  [[nodiscard]] std::optional<TrialRecord> next_disturbed() const;
  [[nodiscard]] Result<std::optional<TrialRecord>> next_suggestion();
  /// The best configuration with fewer changes, to be measured.
  [[nodiscard]] std::optional<TrialRecord> next_reduction() const;
  /// True if the budget has room for no more trials than are kept for fewer changes.
  [[nodiscard]] bool ends_soon(Spending spending) const;
  /// True if the trials have decided that nothing is to be gained.
  [[nodiscard]] bool is_nothing_to_gain() const;
  /// Whether two trials have told values, so that a model of them says anything.
  [[nodiscard]] bool tells_differences() const;
  [[nodiscard]] std::optional<TrialRecord> next_confirmation() const;
  /// Takes a trial in, and with it whatever follows from the trials anew.
  void put(TrialRecord trial);
  [[nodiscard]] const Confirmation& confirmation() const;
  [[nodiscard]] ConfirmLimits confirm_limits() const;
  [[nodiscard]] TrialTargets targets_of(const TrialRecord& trial) const;
  /// What a confirming run is measured for beyond others of its configuration.
  void set_confirming(TrialTargets& targets, const TrialRecord& trial, double startup_s) const;
  /// What a budget of time leaves to a trial, which is in the standing.
  void set_time(TrialTargets& targets, const TrialRecord& trial, double startup_s) const;
  [[nodiscard]] TrialRecord new_trial(TrialPurpose purpose, std::string origin,
                                      Configuration configuration) const;

  /// Whether the search may hand over another trial beside those that run.
  [[nodiscard]] bool takes_another() const;
  /// Hands over what else of the confirmation is certain to be run, as far as places are open.
  [[nodiscard]] Result<void> launch_more_rounds();
  /// At most so many trials will still be launched; nothing: not known.
  [[nodiscard]] std::optional<std::int64_t> further_trials() const;
  /// The trial as it is about to run: how fast the machine is believed to be by now.
  [[nodiscard]] TrialRecord at_present_level(TrialRecord trial) const;
  [[nodiscard]] Result<void> launch(TrialRecord trial);
  /// Tells the listener. `trial`: if the text is about one.
  void warn_of(std::optional<std::int64_t> trial, const std::string& text) const;
  /// The listener is told the decision's text.
  void tell(StudyDecision decision);
  /// Whether no fresh run of this one's configuration is known yet.
  [[nodiscard]] bool is_first_of_finalist(const TrialRecord& trial) const;
  /// The search, unless something else has ended it.
  void end_for_time();
  /// Ends what waits for machines, now that the time to wait for them is over; says so.
  void withdraw_waiting();
  /// Leaves what is to run again, but has no time any more, to a run with more; says so.
  void leave_cut_off();
  /// Of what was withdrawn, cut off or lost, whether there is no time for another attempt.
  [[nodiscard]] bool is_too_late_for(TrialPurpose purpose) const;
  /// Lets the running trials go on for a moment; deals with those that end and with the user.
  [[nodiscard]] Result<void> listen();
  [[nodiscard]] Result<void> stop_for_user();
  [[nodiscard]] Result<void> detach();
  void forward_notices();
  /// Ends a first trial from whose output nothing will be read.
  void end_unread_trial();
  [[nodiscard]] Result<void> on_ended(const TrialRecord& trial);
  /// What a run that others are compared with, or that is compared, has changed is recorded.
  void conclude_from(const TrialRecord& trial);
  void count_failures(const TrialRecord& trial);
  void observe(const TrialRecord& trial, const LaunchVariation& launches);
  /// Lets the scheduler compare with a trial that has ended, in this run of the tuner or before,
  /// or forget it where it does not count.
  void tell_scheduler(const TrialRecord& trial);
  void check_baseline(const TrialRecord& baseline);
  /// Tells once how far the budget goes for a program with this start-up.
  void tell_course(double startup_s);
  [[nodiscard]] bool baseline_is_open() const;
  /// True if trials run on this machine by themselves; interleaved ones count as such.
  [[nodiscard]] bool runs_one_at_a_time() const;
  /// True if the runs of a confirming round are interleaved (`TrialSpec::interleaved_round`).
  [[nodiscard]] bool interleaves() const;
  /// Launches the runs that are to be interleaved with the first one of `round`.
  [[nodiscard]] Result<void> launch_rest_of_round(int round);
  [[nodiscard]] int interrupts() const;
  [[nodiscard]] Spending spending() const;
  /// With the time and money of now, and of what runs at present.
  [[nodiscard]] Spending as_of_now(Spending spending) const;
  [[nodiscard]] bool time_is_over() const;
  /// Whether what is left of the budget's time is the confirmation's.
  [[nodiscard]] bool search_time_is_over() const;
  /// What trying a configuration is expected to take, the start of its machines included, in the
  /// unit of observed prices.
  [[nodiscard]] double trial_price(const Configuration& configuration) const;
  /// Whether the budget of money allows one more trial, whatever it will cost.
  [[nodiscard]] bool can_pay_another() const;

  const LoopParts& parts_;
  StudyRecord study_;
  std::optional<FormerRun> former_;
  MachineHolder& machines_;
  Stopwatch stopwatch_;
  RunnerEvents events_;
  Recorder recorder_;
  RunningTrials running_;
  Standing standing_;  ///< of all trials; running ones as launched
  /// Of `standing_` as it is; nothing: not asked for since that changed.
  mutable std::optional<Confirmation> confirmation_;
  std::deque<TrialRecord> pending_;  ///< to be launched again, attempt counted up already
  PaybackRule payback_;
  TrialWarnings warnings_;
  std::optional<End> end_;
  std::optional<double> expected_improvement_;  ///< of the latest suggestion
  bool waits_for_results_ = false;     ///< the searcher has nothing until a running trial has ended
  std::size_t withdrawn_ = 0;          ///< trials that were not waited for
  std::vector<std::int64_t> cut_off_;  ///< trials that there was no time to run again
  bool told_course_ = false;
  bool told_of_interleaving_ = false;
  bool confirmed_ = false;  ///< the search goes on after a confirmation
  int failures_in_a_row_ = 0;
  std::string last_failure_;
  std::string left_running_;
};

}  // namespace steptune
