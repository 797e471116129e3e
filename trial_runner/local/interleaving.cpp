// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/interleaving.hpp"

#include <algorithm>
#include <utility>

#include "common/numbers.hpp"
#include "trial_runner/turn_rules.hpp"

namespace steptune::local {
namespace {

/// Longest turn, in seconds, for programs that report rarely or hang.
constexpr double k_longest_turn_s = 30.0;
/// A new trial starts only if this multiple of the largest trial's memory is free, for it and for
/// each trial that is still starting. The new trial may need more memory than the running trials.
constexpr double k_memory_to_spare = 1.5;

bool has_started(const LocalTrial& trial) {
  return trial.progress_reports() >= k_least_turn_reports;
}

bool is_starting(const LocalTrial& trial) {
  return !has_started(trial) && !trial.is_ending();
}

bool has_turn(const LocalTrial& trial) {
  return has_started(trial) && !trial.is_ending() && !trial.is_paused();
}

}  // namespace

std::vector<TrialKey> Interleaving::cancel(const std::function<bool(TrialKey)>& which) {
  std::vector<TrialKey> cancelled;
  std::erase_if(waiting_, [&](const TrialSpec& spec) {
    if (!which(spec.key)) return false;
    cancelled.push_back(spec.key);
    return true;
  });
  return cancelled;
}

void Interleaving::begin_turn(TrialKey key, std::int64_t reports_before, double now_s) {
  turn_ = key;
  turn_began_s_ = now_s;
  reports_before_ = reports_before;
}

bool Interleaving::is_over(const LocalTrial& turn, double now_s) const {
  const double taken_s = now_s - turn_began_s_;
  const bool has_reported = turn.progress_reports() - reports_before_ >= k_least_turn_reports;
  return (taken_s >= k_turn_s && has_reported) || taken_s >= k_longest_turn_s;
}

bool Interleaving::may_start(const std::vector<LocalTrial>& trials) const {
  if (waiting_.empty()) return false;
  if (trials.empty()) return true;
  const auto starts = static_cast<std::size_t>(std::ranges::count_if(trials, is_starting));
  return round_ > 0 && starts < most_starts_ &&
         std::ranges::none_of(trials, &LocalTrial::is_ending);
}

bool Interleaving::has_memory(const std::vector<LocalTrial>& trials,
                              const std::function<double()>& free_bytes) const {
  if (trials.empty()) return true;
  // Trials that are starting will need memory that they have not allocated yet.
  const auto starts = static_cast<double>(std::ranges::count_if(trials, is_starting));
  if (starts > 0.0 && most_bytes_ == 0.0) return false;
  return free_bytes() >= k_memory_to_spare * most_bytes_ * (starts + 1.0);
}

TrialSpec Interleaving::start_next(double now_s) {
  TrialSpec spec = std::move(waiting_.front());
  waiting_.pop_front();
  round_ = spec.interleaved_round;
  begin_turn(spec.key, 0, now_s);
  return spec;
}

std::optional<TrialKey> Interleaving::next_turn(double now_s,
                                                const std::vector<LocalTrial>& trials) const {
  const bool is_changing = std::ranges::any_of(trials, is_starting) ||
                           std::ranges::any_of(trials, &LocalTrial::is_ending);
  if (is_changing || trials.empty()) return std::nullopt;
  const auto turn = std::ranges::find(trials, turn_, &LocalTrial::key);
  // A trial that waits for memory starts when the running trial has ended, so let that trial run
  // on.
  if (turn != trials.end() && has_turn(*turn) && (!waiting_.empty() || !is_over(*turn, now_s))) {
    return turn_;
  }
  if (turn == trials.end() || std::next(turn) == trials.end()) return trials.front().key();
  return std::next(turn)->key();
}

void Interleaving::share_time(double now_s, std::vector<LocalTrial>& trials) {
  const auto runs = [](const LocalTrial& trial) { return !trial.is_paused(); };
  const auto count = static_cast<double>(std::ranges::count_if(trials, runs));
  const double passed_s = now_s - std::exchange(shared_until_s_, now_s);
  for (LocalTrial& trial : trials) {
    if (runs(trial)) trial.share_time(passed_s * (1.0 - 1.0 / count));
  }
}

std::optional<TrialSpec> Interleaving::advance(double now_s, std::vector<LocalTrial>& trials,
                                               const std::function<double()>& free_bytes) {
  for (const LocalTrial& trial : trials) {
    if (has_started(trial)) most_bytes_ = std::max(most_bytes_, trial.peak_memory_bytes());
  }
  if (trials.empty() && waiting_.empty()) round_ = 0;
  if (round_ > 0) share_time(now_s, trials);
  const bool starts = may_start(trials);
  waits_for_memory_ = starts && !has_memory(trials, free_bytes);
  const bool starts_now = starts && !waits_for_memory_;
  if (round_ > 0) {
    const auto next = starts_now ? std::nullopt : next_turn(now_s, trials);
    for (LocalTrial& trial : trials) {
      if (has_turn(trial) && trial.key() != next) trial.suspend(now_s);
    }
    const auto runs =
        std::ranges::find_if(trials, [&](const LocalTrial& trial) { return trial.key() == next; });
    if (runs != trials.end() && (runs->is_paused() || *next != turn_)) {
      runs->resume(now_s);
      begin_turn(*next, runs->progress_reports(), now_s);
    }
  }
  return starts_now ? std::optional(start_next(now_s)) : std::nullopt;
}

double Interleaving::next_timer_s(double now_s, const std::vector<LocalTrial>& trials) const {
  if (may_start(trials) && !waits_for_memory_) return now_s;
  if (round_ == 0 || trials.empty()) return k_infinity;
  const auto next = next_turn(now_s, trials);
  // A report wakes the runner. So a turn that only waits for reports needs no timer.
  const auto must_change = [&](const LocalTrial& trial) {
    return trial.key() == next ? !has_turn(trial) : has_turn(trial);
  };
  if (std::ranges::any_of(trials, must_change)) return now_s;
  if (!next || trials.size() < 2 || !waiting_.empty()) return k_infinity;
  const double turn_end_s = turn_began_s_ + k_turn_s;
  return now_s < turn_end_s ? turn_end_s : turn_began_s_ + k_longest_turn_s;
}

}  // namespace steptune::local
