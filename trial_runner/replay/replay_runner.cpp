// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/replay/replay_runner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace steptune {

ReplayRunner::ReplayRunner(VirtualClock& clock, ReplayModel model, ReplayOptions options)
    : clock_(clock), model_(std::move(model)), options_(std::move(options)) {
  options_.parallel = std::max(1, options_.parallel);
}

Result<void> ReplayRunner::begin_study(const std::string& name, const std::string& /*identity*/) {
  if (auto first = admission_.check_no_study(); !first) return first;
  admission_.begin_study(name);
  return {};
}

Result<void> ReplayRunner::start(const TrialSpec& spec) {
  std::vector<TrialKey> running;
  for (const ReplayTrial& trial : trials_)
    running.push_back(trial.key());
  if (auto admitted = admission_.check_start(spec.key, running, options_.parallel); !admitted) {
    return admitted;
  }
  ReplayTrial::Plan plan;
  plan.spec = spec;
  plan.started_s = clock_.now_s();
  plan.startup_s = options_.startup_s;
  plan.behaviour = model_(spec);
  if (options_.end_of) plan.end = options_.end_of(spec);
  plan.steps = options_.steps;
  plan.noise = options_.noise;
  plan.seed = options_.seed;
  trials_.emplace_back(std::move(plan));
  return {};
}

Result<std::vector<TrialEvent>> ReplayRunner::wait(double deadline_s) {
  std::vector<TrialEvent> events;
  const auto next = std::min_element(
      trials_.begin(), trials_.end(),
      [](const ReplayTrial& a, const ReplayTrial& b) { return a.next_s() < b.next_s(); });
  const double limit_s = std::max(deadline_s, clock_.now_s());
  if (next == trials_.end() || next->next_s() > limit_s) {
    if (std::isfinite(limit_s)) clock_.advance_to(limit_s);
    return events;
  }
  clock_.advance_to(next->next_s());
  for (ReplayTrial& trial : trials_) {
    while (trial.next_s() <= clock_.now_s())
      events.push_back(trial.next());
  }
  std::erase_if(trials_, [](const ReplayTrial& trial) { return std::isinf(trial.next_s()); });
  return events;
}

void ReplayRunner::stop(TrialKey key) {
  for (ReplayTrial& trial : trials_) {
    if (trial.key() == key)
      trial.stop(clock_.now_s() + std::min(k_replayed_stop_s, trial.grace_s()));
  }
}

void ReplayRunner::kill_all() {
  for (ReplayTrial& trial : trials_)
    trial.stop(clock_.now_s());
}

Result<std::vector<TrialKey>> ReplayRunner::adopt(std::span<const Orphan> /*orphans*/) {
  if (auto begun = admission_.check_study(); !begun) return tl::unexpected(begun.error());
  return std::vector<TrialKey>{};
}

}  // namespace steptune
