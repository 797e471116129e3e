// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trial_runner/runner.hpp"

namespace steptune {

/// A runner with one place that does what the test says.
class ScriptedRunner final : public Runner {
 public:
  Result<void> begin_study(const std::string& /*name*/, const std::string& /*identity*/) override {
    return {};
  }
  [[nodiscard]] int capacity() const override { return 1; }
  Result<void> start(const TrialSpec& spec) override {
    if (refuses) return fail(ErrorKind::unavailable, "cannot start a process");
    started.push_back(spec);
    std::map<std::string, std::string> placement;
    if (spec.forked_modules && can_fork) placement[k_start_fact] = k_forked;
    events.emplace_back(TrialStarted{spec.key, 0.0, "token", placement});
    return {};
  }
  Result<std::vector<TrialEvent>> wait(double /*deadline_s*/) override {
    return std::exchange(events, {});
  }
  void stop(TrialKey key) override { end(key, OutcomeKind::stopped); }
  void kill_all() override {
    if (!started.empty()) stop(started.back().key);
  }
  Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) override {
    asked_to_adopt.assign(orphans.begin(), orphans.end());
    return std::vector<TrialKey>{};
  }

  void tell(TrialKey key, const std::string& event) {
    Report report;
    report.received_s = now_s;
    report.hook_events = {event};
    events.emplace_back(TrialReported{key, report});
  }
  void report_losses(TrialKey key, const std::string& first) {
    tell(key, fmt::format(R"({{"event":"losses","first":["{}"]}})", first));
  }
  void end(TrialKey key, OutcomeKind kind) {
    Outcome outcome;
    outcome.kind = kind;
    events.emplace_back(TrialFinished{key, 9.0, outcome});
  }

  bool can_fork = true;
  bool refuses = false;  ///< refuses to start anything
  double now_s = 5.0;
  std::vector<TrialSpec> started;
  std::vector<Orphan> asked_to_adopt;
  std::vector<TrialEvent> events;
};

}  // namespace steptune
