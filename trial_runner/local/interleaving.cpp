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
/// A new trial starts only if this multiple of the largest trial's memory is free. The new trial
/// may need more memory than the running trials.
constexpr double k_memory_to_spare = 1.5;

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

std::optional<TrialSpec> Interleaving::advance(double now_s, std::vector<LocalTrial>& trials,
                                               const std::function<double()>& free_bytes,
                                               Subreaper& subreaper,
                                               std::vector<TrialEvent>& events) {
  const auto start_next = [&] {
    TrialSpec spec = std::move(waiting_.front());
    waiting_.pop_front();
    waits_for_memory_ = false;
    round_ = spec.interleaved_round;
    begin_turn(spec.key, 0, now_s);
    return spec;
  };
  auto turn = std::ranges::find(trials, turn_, &LocalTrial::key);
  if (turn == trials.end()) {
    if (!waiting_.empty()) return start_next();
    if (trials.empty()) round_ = 0;
    if (round_ == 0) return std::nullopt;
    trials.front().resume(now_s, events);
    begin_turn(trials.front().key(), trials.front().progress_reports(), now_s);
    return std::nullopt;
  }
  if (round_ == 0 || turn->is_ending()) return std::nullopt;
  // A trial that was asked to end can end only while it runs, so give it the turn.
  const auto ending = std::ranges::find_if(trials, &LocalTrial::is_ending);
  if (ending != trials.end()) {
    turn->suspend(now_s, subreaper, events);
    begin_turn(ending->key(), ending->progress_reports(), now_s);
    return std::nullopt;
  }
  if (turn->progress_reports() < k_least_turn_reports) return std::nullopt;
  if (!waiting_.empty()) {
    double most_bytes = 0.0;
    for (const LocalTrial& trial : trials)
      most_bytes = std::max(most_bytes, trial.peak_memory_bytes());
    waits_for_memory_ = free_bytes() < k_memory_to_spare * most_bytes;
    if (waits_for_memory_) return std::nullopt;
    turn->suspend(now_s, subreaper, events);
    return start_next();
  }
  if (trials.size() < 2 || !is_over(*turn, now_s)) return std::nullopt;
  turn->suspend(now_s, subreaper, events);
  auto next = std::next(turn);
  if (next == trials.end()) next = trials.begin();
  next->resume(now_s, events);
  begin_turn(next->key(), next->progress_reports(), now_s);
  return std::nullopt;
}

double Interleaving::next_timer_s(double now_s, const std::vector<LocalTrial>& trials) const {
  const auto turn = std::ranges::find(trials, turn_, &LocalTrial::key);
  if (turn == trials.end()) {
    return waiting_.empty() && (round_ == 0 || trials.empty()) ? k_infinity : now_s;
  }
  if (round_ == 0 || turn->is_ending()) return k_infinity;
  if (std::ranges::any_of(trials, &LocalTrial::is_ending)) return now_s;
  // A report wakes the runner, so it needs no timer.
  if (turn->progress_reports() < k_least_turn_reports) return k_infinity;
  if (!waiting_.empty()) return waits_for_memory_ ? k_infinity : now_s;
  if (trials.size() < 2) return k_infinity;
  if (is_over(*turn, now_s)) return now_s;
  const double turn_end_s = turn_began_s_ + k_turn_s;
  return now_s < turn_end_s ? turn_end_s : turn_began_s_ + k_longest_turn_s;
}

}  // namespace steptune::local
