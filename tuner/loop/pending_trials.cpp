// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/pending_trials.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune {

void PendingTrials::add(TrialRecord trial) {
  prepare_next_attempt(trial);
  queue_.push_back(std::move(trial));
}

void PendingTrials::on_interrupted(const TrialRecord& trial) {
  if (run_->interrupts() > 0 || std::ranges::count(withdrawn_, trial.number) > 0) return;
  const bool confirms = is_confirmation(trial.purpose);
  const bool has_had_its_part = confirms && run_->running.lacked_time(trial.number);
  // If the runner holds machines, queue late search trials, too. `drop_late` drops them and warns
  // the user.
  const bool may_wait = run_->machines.holds_machines() && !confirms;
  if (!has_had_its_part && (may_wait || !run_->is_too_late_for(trial.purpose))) {
    add(trial);
  } else {
    dropped_.push_back(trial.number);
  }
}

std::optional<TrialRecord> PendingTrials::next(bool confirming) {
  if (queue_.empty()) return std::nullopt;
  const auto found = std::ranges::find_if(queue_, [&](const TrialRecord& trial) {
    if (is_compared(trial.purpose) && run_->is_too_late_for(trial.purpose)) return false;
    return confirming || !is_confirmation(trial.purpose);
  });
  if (found == queue_.end()) return std::nullopt;
  TrialRecord trial = std::move(*found);
  queue_.erase(found);
  return trial;
}

void PendingTrials::withdraw_waiting() {
  if (run_->interrupts() > 0) return;
  const auto numbers = run_->running.withdraw(run_->machines.trials_without_machine());
  if (numbers.empty()) return;
  withdrawn_.insert(withdrawn_.end(), numbers.begin(), numbers.end());
  const std::string time = format_duration(*run_->parts.study.budget.time_s);
  run_->end_for_time();
  const std::string notice = fmt::format(
      "{} was still waiting for machines when the tuning time was over ({}, \"time\" of "
      "\"budget\"), and is not run",
      numbers.size() == 1 ? "1 trial" : fmt::format("each of {} trials", numbers.size()), time);
  run_->announce({.kind = "withdraw", .text = notice, .numbers = Json{{"trials", numbers.size()}}});
}

void PendingTrials::drop_late() {
  if (run_->interrupts() > 0) return;
  const auto late = std::ranges::stable_partition(
      queue_, [](const TrialRecord& trial) { return !is_compared(trial.purpose); });
  if (late.empty()) return;
  const std::string time = format_duration(*run_->parts.study.budget.time_s);
  for (const TrialRecord& trial : late) {
    const std::string notice = fmt::format(
        "trial {} was cut off, and is not run again: the time for it is over ({}, \"time\" of "
        "\"budget\")",
        trial.number, time);
    run_->announce({.kind = "cut_off", .trial = trial.number, .text = notice});
    dropped_.push_back(trial.number);
  }
  queue_.erase(late.begin(), late.end());
  run_->end_for_time();
}

std::vector<std::int64_t> PendingTrials::cut_off() const {
  std::vector<std::int64_t> numbers = dropped_;
  for (const TrialRecord& trial : queue_)
    numbers.push_back(trial.number);
  return numbers;
}

}  // namespace steptune
