// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/machine_holder.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/confirm.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/loop/payback.hpp"
#include "tuner/loop/recorder.hpp"
#include "tuner/loop/running_trials.hpp"
#include "tuner/loop/standing.hpp"
#include "tuner/loop/stopwatch.hpp"

namespace steptune {

/// True for ends after which running the study again goes on with it.
[[nodiscard]] bool is_to_be_continued(LoopEnd end);

/// One run of the tuner over one study: what `run_loop` does, phase by phase.
class Tuning {
 public:
  /// `study` is the history's record; parts outlive the object.
  /// `was_killed`: the last run of the tuner came to no end; this one decides as if nothing had
  /// happened.
  Tuning(const LoopParts& parts, StudyRecord study, bool was_killed);
  Tuning(const Tuning&) = delete;
  Tuning& operator=(const Tuning&) = delete;

  /// Resumes, searches, confirms, concludes. On an error the trials under way are ended and
  /// recorded as interrupted, as far as the history lets.
  [[nodiscard]] Result<LoopResult> run();

 private:
  struct End {
    LoopEnd end = LoopEnd::budget;
    std::string reason;
  };

  [[nodiscard]] Result<LoopResult> run_phases();
  [[nodiscard]] Result<void> resume();
  [[nodiscard]] Result<void> search();
  [[nodiscard]] Result<void> confirm();
  /// Gives back what the runner keeps for trials, now that none will follow.
  void release();
  [[nodiscard]] Result<LoopResult> conclude();

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
  [[nodiscard]] std::optional<TrialRecord> next_confirmation() const;
  /// Takes a trial in, and with it whatever follows from the trials anew.
  void put(TrialRecord trial);
  [[nodiscard]] const Confirmation& confirmation() const;
  [[nodiscard]] ConfirmLimits confirm_limits() const;
  [[nodiscard]] TrialTargets targets_of(const TrialRecord& trial) const;
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
  /// Lets the running trials go on for a moment; deals with those that end and with the user.
  [[nodiscard]] Result<void> listen();
  [[nodiscard]] Result<void> stop_for_user();
  [[nodiscard]] Result<void> detach();
  void forward_notices();
  void on_ended(const TrialRecord& trial);
  /// What a run that others are compared with, or that is compared, has changed.
  void log_conclusions(const TrialRecord& trial) const;
  void warn_of_unsteady(const TrialRecord& trial) const;
  void warn_of_drift(bool was_known) const;
  void count_failures(const TrialRecord& trial);
  void observe(const TrialRecord& trial, const LaunchVariation& launches);
  /// Lets the scheduler compare with a trial that has ended, in this run of the tuner or before,
  /// or forget it where it does not count.
  void tell_scheduler(const TrialRecord& trial);
  void check_baseline(const TrialRecord& baseline);
  [[nodiscard]] bool baseline_is_open() const;
  [[nodiscard]] int interrupts() const;
  [[nodiscard]] Spending spending() const;
  /// What trying a configuration is expected to take, the start of its machines included, in the
  /// unit of observed prices.
  [[nodiscard]] double trial_price(const Configuration& configuration) const;
  /// Whether the budget of money allows one more trial, whatever it will cost.
  [[nodiscard]] bool can_pay_another() const;

  const LoopParts& parts_;
  StudyRecord study_;
  bool was_killed_;
  MachineHolder* machines_;  ///< null: the runner holds none
  Stopwatch stopwatch_;
  RunnerEvents events_;
  Recorder recorder_;
  RunningTrials running_;
  Standing standing_;  ///< of all trials; running ones as launched
  /// Of `standing_` as it is; nothing: not asked for since that changed.
  mutable std::optional<Confirmation> confirmation_;
  std::deque<TrialRecord> pending_;  ///< to be launched again, attempt counted up already
  PaybackRule payback_;
  std::optional<End> end_;
  int failures_in_a_row_ = 0;
  std::string last_failure_;
  std::string left_running_;
};

}  // namespace steptune
