// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/null_studies/shared_machine_runner.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "trial_runner/replay/replay_runner.hpp"
#include "trial_runner/turn_rules.hpp"

namespace steptune::null_studies {
namespace {

constexpr double k_never_s = std::numeric_limits<double>::infinity();

}  // namespace

SharedMachineRunner::SharedMachineRunner(VirtualClock& clock, ReplayModel model,
                                         ReplayOptions options, Neighbours neighbours,
                                         bool in_turns)
    : clock_(clock),
      model_(std::move(model)),
      options_(std::move(options)),
      neighbours_(std::move(neighbours)),
      in_turns_(in_turns) {}

Result<void> SharedMachineRunner::begin_study(const std::string& name,
                                              const std::string& /*identity*/) {
  if (auto first = admission_.check_no_study(); !first) return first;
  admission_.begin_study(name);
  return {};
}

int SharedMachineRunner::round() const {
  if (!waiting_.empty()) return waiting_.front().interleaved_round;
  return trials_.empty() ? 0 : trials_.front().round();
}

Result<void> SharedMachineRunner::start(const TrialSpec& spec) {
  std::vector<TrialKey> under_way;
  for (const PausableTrial& trial : trials_)
    under_way.push_back(trial.key());
  for (const TrialSpec& waiting : waiting_)
    under_way.push_back(waiting.key);
  const bool joins = under_way.empty() || round() == spec.interleaved_round;
  const int places = joins ? Admission::places_for(spec, under_way, *this) : capacity();
  if (auto admitted = admission_.check_start(spec.key, under_way, places); !admitted) {
    return admitted;
  }
  waiting_.push_back(spec);
  return {};
}

void SharedMachineRunner::start_next() {
  ReplayTrial::Plan plan;
  plan.spec = std::move(waiting_.front());
  waiting_.pop_front();
  plan.startup_s = options_.startup_s;
  plan.behaviour = model_(plan.spec);
  if (options_.end_of) plan.end = options_.end_of(plan.spec);
  plan.steps = options_.steps;
  plan.noise = options_.noise;
  plan.seed = options_.seed;
  plan.report_growth = 0.0;
  const int round = in_turns_ ? plan.spec.interleaved_round : 0;
  trials_.emplace_back(std::move(plan), round, neighbours_, clock_.now_s());
  begin_turn(trials_.back());
}

void SharedMachineRunner::begin_turn(const PausableTrial& trial) {
  turn_ = trial.key();
  turn_end_s_ = clock_.now_s() + k_turn_s;
  reports_before_ = trial.progress_reports();
}

bool SharedMachineRunner::turn_is_over(const PausableTrial& turn) const {
  return clock_.now_s() >= turn_end_s_ &&
         turn.progress_reports() - reports_before_ >= k_least_turn_reports;
}

double SharedMachineRunner::turn_timer_s() const {
  const bool is_due = trials_.size() > 1 && turn_end_s_ > clock_.now_s();
  return is_due ? turn_end_s_ : k_never_s;
}

void SharedMachineRunner::advance_turns(std::vector<TrialEvent>& events) {
  const double now_s = clock_.now_s();
  const auto turn = std::ranges::find(trials_, turn_, &PausableTrial::key);
  if (turn == trials_.end()) {
    if (!waiting_.empty()) return start_next();
    if (trials_.empty()) return;
    trials_.front().resume(now_s, events);
    begin_turn(trials_.front());
    return;
  }
  if (turn->is_ending()) return;
  // A trial that was asked to stop must run to its end, so give it the turn.
  const auto ending = std::ranges::find_if(trials_, &PausableTrial::is_ending);
  if (ending != trials_.end()) {
    turn->pause(now_s, events);
    begin_turn(*ending);
    return;
  }
  if (turn->progress_reports() < k_least_turn_reports) return;
  if (!waiting_.empty()) {
    turn->pause(now_s, events);
    return start_next();
  }
  if (trials_.size() < 2 || !turn_is_over(*turn)) return;
  turn->pause(now_s, events);
  auto next = std::next(turn);
  if (next == trials_.end()) next = trials_.begin();
  next->resume(now_s, events);
  begin_turn(*next);
}

void SharedMachineRunner::add_disturbance(const PausableTrial& trial, double now_s,
                                          std::vector<TrialEvent>& events) {
  if (trial.disturbed_s() <= 0.0) return;
  events.insert(std::prev(events.end()),
                TrialDisturbed{trial.key(), now_s - trial.disturbed_s(), now_s, {}});
}

Result<std::vector<TrialEvent>> SharedMachineRunner::wait(double deadline_s) {
  std::vector<TrialEvent> events = std::exchange(unstarted_, {});
  advance_turns(events);
  if (!events.empty()) return events;
  double next_s = turn_timer_s();
  for (const PausableTrial& trial : trials_)
    next_s = std::min(next_s, trial.next_s());
  const double limit_s = std::max(deadline_s, clock_.now_s());
  if (next_s > limit_s) {
    if (std::isfinite(limit_s)) clock_.advance_to(limit_s);
    return events;
  }
  clock_.advance_to(next_s);
  for (PausableTrial& trial : trials_) {
    while (trial.next_s() <= clock_.now_s())
      events.push_back(trial.next());
    if (trial.has_ended()) add_disturbance(trial, clock_.now_s(), events);
  }
  std::erase_if(trials_, [](const PausableTrial& trial) { return trial.has_ended(); });
  return events;
}

void SharedMachineRunner::stop(TrialKey key) {
  for (PausableTrial& trial : trials_) {
    if (trial.key() == key) trial.stop(clock_.now_s(), k_replayed_stop_s);
  }
  drop_waiting([key](TrialKey other) { return other == key; });
}

void SharedMachineRunner::kill_all() {
  for (PausableTrial& trial : trials_)
    trial.stop(clock_.now_s(), 0.0);
  drop_waiting([](TrialKey) { return true; });
}

void SharedMachineRunner::drop_waiting(const std::function<bool(TrialKey)>& which) {
  std::erase_if(waiting_, [&](const TrialSpec& spec) {
    if (!which(spec.key)) return false;
    Outcome stopped;
    stopped.kind = OutcomeKind::stopped;
    stopped.detail = "stopped before it started";
    unstarted_.emplace_back(TrialFinished{spec.key, clock_.now_s(), std::move(stopped)});
    return true;
  });
}

Result<std::vector<TrialKey>> SharedMachineRunner::adopt(std::span<const Orphan> /*orphans*/) {
  if (auto begun = admission_.check_study(); !begun) return tl::unexpected(begun.error());
  return std::vector<TrialKey>{};
}

}  // namespace steptune::null_studies
