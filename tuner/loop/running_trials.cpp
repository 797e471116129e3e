// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/running_trials.hpp"

#include <algorithm>
#include <utility>

#include "tuner/loop/trial_spec.hpp"
#include "tuner/study/config_files.hpp"

namespace steptune {
namespace {

/// Longest wait for events, and shortest time between two displays of the progress.
constexpr double k_longest_wait_s = 0.5;

}  // namespace

Result<void> RunningTrials::launch(TrialRecord trial, TrialTargets targets) {
  trial.status = TrialStatus::launching;
  trial.token.clear();
  trial.failure.clear();
  trial.placement.clear();
  trial.started_wall_s = parts_->clock.wall_time_s();
  trial.ended_wall_s = 0.0;
  trial.log_path = trial_log_path(parts_->log_directory, trial.number, trial.attempt);
  lacked_time_.erase(trial.number);
  if (auto recorded = recorder_->launching(trial); !recorded) return recorded;
  TrialSpec spec = make_trial_spec(parts_->study, trial, standing_->baseline());
  spec.time_to_measure_s = targets.time_to_measure_s;
  spec.slow_limit = targets.slow_limit;
  spec.interleaved_round = targets.interleaved_round;
  auto started = write_config_copies(parts_->study, trial.configuration, trial.log_path);
  if (started) started = parts_->runner.start(spec);
  if (!started) {
    trial.status = TrialStatus::interrupted;
    trial.failure = started.error().text();
    trial.ended_wall_s = parts_->clock.wall_time_s();
    if (auto recorded = recorder_->ended(trial); !recorded) return recorded;
    return started;
  }
  begin(std::move(trial), std::move(targets));
  return {};
}

void RunningTrials::begin(TrialRecord trial, TrialTargets targets) {
  const auto number = trial.number;
  const auto inserted = trials_.insert_or_assign(
      number,
      RunningTrial(parts_->study, std::move(trial), parts_->clock.now_s(), std::move(targets)));
  parts_->listener.on_trial_started(inserted.first->second.record());
}

Result<std::vector<TrialRecord>> RunningTrials::adopt(std::vector<TrialRecord> open,
                                                      const TargetsOf& targets_of) {
  std::vector<Runner::Orphan> orphans;
  for (const TrialRecord& trial : open) {
    orphans.push_back({make_trial_spec(parts_->study, trial), trial.token});
  }
  if (orphans.empty()) return open;
  const auto adopted = parts_->runner.adopt(orphans);
  if (!adopted) return tl::unexpected(adopted.error());
  std::vector<TrialRecord> others;
  for (TrialRecord& trial : open) {
    const TrialKey key{trial.number, trial.attempt};
    if (std::ranges::find(*adopted, key) == adopted->end()) {
      others.push_back(std::move(trial));
      continue;
    }
    TrialTargets targets = targets_of(trial);
    begin(std::move(trial), std::move(targets));
  }
  return others;
}

RunningTrial* RunningTrials::find(TrialKey key) {
  const auto found = trials_.find(key.trial);
  return found != trials_.end() && found->second.key() == key ? &found->second : nullptr;
}

Result<void> RunningTrials::on_event(const TrialStarted& event) {
  RunningTrial* trial = find(event.key);
  if (trial == nullptr) return {};
  trial->started(event);
  return recorder_->running(trial->record());
}

Result<void> RunningTrials::on_event(const TrialReported& event) {
  RunningTrial* trial = find(event.key);
  if (trial == nullptr) return {};
  // If the program has begun its training again, the scheduler's estimates of the earlier training
  // do not count.
  if (trial->reported(event.report)) parts_->scheduler.forget(event.key.trial);
  if (trial->wants_to_end(parts_->scheduler, parts_->searcher, standing_->baseline()))
    parts_->runner.stop(event.key);
  return {};
}

Result<void> RunningTrials::on_event(const TrialDisturbed& event) {
  if (RunningTrial* trial = find(event.key); trial != nullptr) trial->disturbed(event);
  return {};
}

Result<void> RunningTrials::on_event(const TrialPaused& event) {
  RunningTrial* trial = find(event.key);
  if (trial != nullptr && trial->paused(event)) parts_->runner.stop(event.key);
  return {};
}

Result<void> RunningTrials::on_event(const TrialFinished& event) {
  RunningTrial* trial = find(event.key);
  if (trial == nullptr) return {};
  if (trial->lacked_time()) lacked_time_.insert(event.key.trial);
  ended_.push_back(trial->finished(event.outcome, standing_->baseline(),
                                   parts_->clock.wall_time_s(), turns_beside(*trial)));
  if (runs_baseline(trial->record().purpose)) {
    latest_round_ = trial->round();
    latest_turns_ = trial->turns();
  }
  interleaving_failed_ = interleaving_failed_ || trial->cannot_be_interleaved();
  const TrialTrace trace = trial->trace(ended_.back().measurement);
  trials_.erase(event.key.trial);
  return recorder_->ended(ended_.back(), trace);
}

std::span<const Interval> RunningTrials::turns_beside(const RunningTrial& trial) const {
  if (trial.round() == 0 || runs_baseline(trial.record().purpose)) return {};
  const auto baseline = std::ranges::find_if(trials_, [&](const auto& other) {
    return runs_baseline(other.second.record().purpose) && other.second.round() == trial.round();
  });
  if (baseline != trials_.end()) return baseline->second.turns();
  return latest_round_ == trial.round() ? std::span<const Interval>(latest_turns_)
                                        : std::span<const Interval>{};
}

void RunningTrials::end_overdue() {
  const double now_s = parts_->clock.now_s();
  for (auto& [number, trial] : trials_) {
    if (trial.out_of_time(now_s)) parts_->runner.stop(trial.key());
  }
}

void RunningTrials::show_progress() {
  const double now_s = parts_->clock.now_s();
  if (shown_ && now_s < shown_s_ + k_longest_wait_s) return;
  shown_ = true;
  shown_s_ = now_s;
  std::vector<const RunningTrial*> live;
  for (const auto& [number, trial] : trials_)
    live.push_back(&trial);
  parts_->listener.on_progress(live, stopwatch_->elapsed_s());
}

void RunningTrials::keep_spent() {
  std::vector<TrialRecord> running;
  // If the runner holds machines, a later run of the tuner adopts the trials, and they report their
  // whole bill.
  const bool ends_with_tuner = !parts_->runner.machine_holder().holds_machines();
  for (const auto& [number, trial] : trials_) {
    const TrialRecord& record = trial.record();
    if (!ends_with_tuner || record.status != TrialStatus::running) continue;
    const double so_far_s = trial.ran_s(parts_->clock.now_s());
    TrialRecord& spent = running.emplace_back(record);
    spent.spent_s += so_far_s;
    spent.spent_usd += so_far_s * trial.usd_per_billed_s();
  }
  recorder_->spent(running);
}

Result<std::vector<TrialRecord>> RunningTrials::listen() {
  double deadline_s = parts_->clock.now_s() + k_longest_wait_s;
  for (const auto& [number, trial] : trials_) {
    deadline_s = std::min(deadline_s, trial.deadline_s());
  }
  const auto events = events_->next(deadline_s);
  if (!events) return tl::unexpected(events.error());
  Result<void> first_fault;
  for (const TrialEvent& event : *events) {
    // The runner sends each event once, so an earlier error must not lose a later end.
    auto done = std::visit([&](const auto& held) { return on_event(held); }, event);
    if (!done && first_fault) first_fault = std::move(done);
  }
  if (!first_fault) return tl::unexpected(first_fault.error());
  end_overdue();
  show_progress();
  if (recorder_->is_due()) keep_spent();
  return std::exchange(ended_, {});
}

void RunningTrials::interrupt(bool force) {
  for (auto& [number, trial] : trials_) {
    trial.interrupt(EndRequest::user);
    parts_->runner.stop(trial.key());
  }
  if (force) parts_->runner.kill_all();
}

std::vector<std::int64_t> RunningTrials::withdraw(std::span<const TrialKey> waiting) {
  std::vector<std::int64_t> withdrawn;
  for (const TrialKey key : waiting) {
    RunningTrial* trial = find(key);
    if (trial == nullptr || !trial->interrupt(EndRequest::no_machine)) continue;
    parts_->runner.stop(key);
    withdrawn.push_back(key.trial);
  }
  return withdrawn;
}

Result<std::vector<TrialRecord>> RunningTrials::give_up() {
  Outcome outcome;
  outcome.kind = OutcomeKind::lost;
  for (auto& [number, trial] : trials_) {
    trial.interrupt(EndRequest::user);
    ended_.push_back(trial.finished(outcome, standing_->baseline(), parts_->clock.wall_time_s()));
  }
  trials_.clear();
  for (const TrialRecord& trial : ended_) {
    if (auto recorded = recorder_->ended(trial); !recorded) return tl::unexpected(recorded.error());
  }
  return std::exchange(ended_, {});
}

std::vector<Configuration> RunningTrials::configurations() const {
  std::vector<Configuration> configurations;
  for (const auto& [number, trial] : trials_)
    configurations.push_back(trial.record().configuration);
  return configurations;
}

const RunningTrial* RunningTrials::without_progress() const {
  for (const auto& [number, trial] : trials_) {
    if (trial.record().status == TrialStatus::running && !trial.has_reported_progress())
      return &trial;
  }
  return nullptr;
}

void RunningTrials::refuse(TrialKey key, std::string why) {
  RunningTrial* trial = find(key);
  if (trial != nullptr && trial->refuse(std::move(why))) parts_->runner.stop(key);
}

double RunningTrials::usd_committed(double least_s) const {
  double usd = 0.0;
  for (const auto& [number, trial] : trials_) {
    // A trial that waits for its machine, or for its turn there, is not billed yet.
    const bool runs = trial.record().status == TrialStatus::running;
    const double so_far_s = runs ? trial.ran_s(parts_->clock.now_s()) : 0.0;
    usd += std::max(least_s, so_far_s) * trial.usd_per_billed_s();
  }
  return usd;
}

double RunningTrials::usd_bound(double longest_s) const {
  double usd = 0.0;
  for (const auto& [number, trial] : trials_)
    usd += longest_s * trial.usd_per_billed_s();
  return usd;
}

}  // namespace steptune
