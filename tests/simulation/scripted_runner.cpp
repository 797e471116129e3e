// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/scripted_runner.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "common/rng.hpp"

namespace steptune::simulation {

void ScriptedRunner::begin(const TrialSpec& spec) {
  if (!known_.insert(spec.key).second) throw std::logic_error("a key was started twice");
  Live live;
  live.script = script_(spec);
  live.round = interleaved ? spec.interleaved_round : 0;
  live.started_s = clock_.now_s();
  live.next_s = clock_.now_s();
  live_.emplace(spec.key, std::move(live));
  most_running_ = std::max(most_running_, live_.size());
  const bool in_turns = std::ranges::all_of(live_, [&](const auto& other) {
    return other.second.round > 0 && other.second.round == spec.interleaved_round;
  });
  if (!in_turns && live_.size() > static_cast<std::size_t>(capacity_))
    throw std::logic_error("over capacity");
}

Result<void> ScriptedRunner::start(const TrialSpec& spec) {
  crash_point();
  begin(spec);
  started_.push_back(spec);
  crash_point();
  return {};
}

double ScriptedRunner::step_s(TrialKey key, const Live& live) const {
  Rng rng(static_cast<std::uint64_t>(key.trial), "step", static_cast<std::uint64_t>(live.steps));
  return live.script.seconds_per_step * (1.0 + live.script.slower_by_step * live.steps) *
         std::max(0.1, 1.0 + live.script.noise * rng.normal());
}

void ScriptedRunner::happen(TrialKey key, Live& live, std::vector<TrialEvent>& events) {
  const TrialScript& script = live.script;
  if (!live.announced) {
    live.announced = true;
    TrialStarted started{key, clock_.now_s(), "token", {{"cpus", "0"}}};
    if (live.round > 0) started.placement[k_interleaved_fact] = std::to_string(live.round);
    events.emplace_back(std::move(started));
    live.next_s = clock_.now_s() + script.startup_s + step_s(key, live);
    return;
  }
  if (live.ending) {
    Outcome outcome;
    outcome.kind = *live.ending;
    outcome.detail = script.detail;
    outcome.duration_s = clock_.now_s() - live.started_s;
    outcome.billed_s = outcome.duration_s;
    outcome.peak_memory_bytes = script.peak_memory_bytes;
    if (script.disturbed_share > 0.0) {
      const double quiet_s = (1.0 - script.disturbed_share) * outcome.duration_s;
      outcome.disturbance = Disturbance{.other_load = 0.5};
      events.emplace_back(
          TrialDisturbed{key, live.started_s + quiet_s, clock_.now_s(), *outcome.disturbance});
    }
    events.emplace_back(TrialFinished{key, clock_.now_s(), outcome});
    return;
  }
  if (script.hangs_after && live.steps >= *script.hangs_after) {
    live.next_s = std::numeric_limits<double>::infinity();
    return;
  }
  if (script.steps && live.steps >= *script.steps) {
    live.ending = script.ends_as;
    return;
  }
  ++live.steps;
  if (!script.silent) {
    Report report;
    report.received_s = clock_.now_s();
    report.step = live.steps;
    if (script.reports_samples) report.samples = live.steps * script.samples_per_step;
    report.metrics = script.metrics;
    events.emplace_back(TrialReported{key, report});
  }
  live.next_s = clock_.now_s() + step_s(key, live);
}

Result<std::vector<TrialEvent>> ScriptedRunner::wait(double deadline_s) {
  if (at_wait) at_wait();
  double next_s = std::numeric_limits<double>::infinity();
  for (const auto& [key, live] : live_)
    next_s = std::min(next_s, live.next_s);
  clock_.advance_to(std::min(next_s, deadline_s));
  std::vector<TrialEvent> events;
  for (auto& [key, live] : live_) {
    if (live.next_s <= clock_.now_s()) happen(key, live, events);
  }
  for (const auto& event : events) {
    if (const auto* finished = std::get_if<TrialFinished>(&event)) live_.erase(finished->key);
    if (!std::holds_alternative<TrialReported>(event)) crash_point();
  }
  return events;
}

void ScriptedRunner::stop(TrialKey key) {
  crash_point();
  const auto found = live_.find(key);
  if (found == live_.end() || found->second.ending || found->second.script.ignores_stop) return;
  found->second.ending = found->second.script.stops_as;
  found->second.announced = true;
  found->second.next_s = clock_.now_s() + found->second.script.stopping_s;
}

void ScriptedRunner::kill_all() {
  for (auto& [key, live] : live_) {
    live.ending = OutcomeKind::stopped;
    live.announced = true;
    live.next_s = clock_.now_s();
  }
}

Result<std::vector<TrialKey>> ScriptedRunner::adopt(std::span<const Orphan> orphans) {
  if (!adopts) return std::vector<TrialKey>{};
  for (const auto& orphan : orphans) {
    begin(orphan.spec);
    adopted_.push_back(orphan.spec.key);
  }
  return adopted_;
}

}  // namespace steptune::simulation
