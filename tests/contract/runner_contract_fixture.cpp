// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/contract/runner_contract.hpp"

namespace steptune::contract {
namespace {

/// Returns the time of an event other than a disturbance.
double time_of(const TrialEvent& event) {
  if (const auto* reported = std::get_if<TrialReported>(&event)) return reported->report.received_s;
  if (const auto* started = std::get_if<TrialStarted>(&event)) return started->time_s;
  return std::get<TrialFinished>(event).time_s;
}

}  // namespace

TrialFinished finished(const std::vector<TrialEvent>& events, TrialKey key) {
  std::vector<TrialFinished> found;
  for (const TrialEvent& event : events) {
    const auto* end = std::get_if<TrialFinished>(&event);
    if (end != nullptr && end->key == key) found.push_back(*end);
  }
  EXPECT_EQ(found.size(), 1U) << "trial " << key.trial << " attempt " << key.attempt;
  return found.empty() ? TrialFinished{} : found.front();
}

std::string token_of(const std::vector<TrialEvent>& events, TrialKey key) {
  for (const TrialEvent& event : events) {
    const auto* started = std::get_if<TrialStarted>(&event);
    if (started != nullptr && started->key == key) return started->token;
  }
  ADD_FAILURE() << "trial " << key.trial << " did not start";
  return {};
}

void RunnerContract::make(int parallel) {
  bench_ = GetParam().make(std::min(parallel, GetParam().most_parallel));
  ASSERT_NE(bench_, nullptr);
  runner_ = bench_->make_runner();
  ASSERT_NE(runner_, nullptr);
}

void RunnerContract::use(int parallel) {
  make(parallel);
  const auto begun = runner().begin_study("contract", "1");
  ASSERT_TRUE(begun) << begun.error().text();
  bench().settle(runner());
}

std::vector<TrialKey> RunnerContract::key_for_each_place() {
  std::vector<TrialKey> keys;
  for (int trial = 1; trial <= runner().capacity(); ++trial)
    keys.push_back({trial, 1});
  return keys;
}

void RunnerContract::restart() {
  destroy();
  heard_.clear();
  last_s_.clear();
  runner_ = bench_->make_runner();
  ASSERT_NE(runner_, nullptr);
  const auto begun = runner().begin_study("contract", "1");
  ASSERT_TRUE(begun) << begun.error().text();
}

int RunnerContract::places() {
  const MachineHolder& holder = runner().machine_holder();
  return holder.holds_machines() ? holder.backlog() : runner().capacity();
}

void RunnerContract::start(const TrialSpec& spec) {
  const auto started = runner().start(spec);
  ASSERT_TRUE(started) << started.error().text();
  heard_.insert_or_assign(spec.key, Heard::accepted);
}

void RunnerContract::check_order(const TrialEvent& event) {
  bench().on_event(event);
  const TrialKey key = key_of(event);
  SCOPED_TRACE(testing::Message() << "trial " << key.trial << " attempt " << key.attempt);
  const auto [heard, is_first] = heard_.try_emplace(key, Heard::accepted);
  EXPECT_NE(heard->second, Heard::finished) << "an event after the last one";
  // Disturbances are reported when they are over.
  if (std::holds_alternative<TrialDisturbed>(event)) return;
  const auto [last, is_earliest] = last_s_.try_emplace(key, time_of(event));
  EXPECT_GE(time_of(event), last->second) << "times go back";
  last->second = time_of(event);
  if (std::holds_alternative<TrialStarted>(event)) {
    EXPECT_EQ(heard->second, Heard::accepted) << "started twice";
    heard->second = Heard::started;
  } else if (std::holds_alternative<TrialReported>(event)) {
    EXPECT_EQ(heard->second, Heard::started) << "a report before the start";
  } else {
    heard->second = Heard::finished;
  }
}

std::vector<TrialEvent> RunnerContract::wait_until(
    const std::function<bool(const TrialEvent&)>& done) {
  std::vector<TrialEvent> all;
  const double limit_s = bench().patience_s();
  const double deadline_s = bench().now_s() + limit_s;
  bool satisfied = false;
  while (!satisfied) {
    auto events = runner().wait(deadline_s);
    if (!events) {
      ADD_FAILURE() << events.error().text();
      break;
    }
    for (TrialEvent& event : *events) {
      check_order(event);
      satisfied = done(event) || satisfied;
      all.push_back(std::move(event));
    }
    if (!satisfied && bench().now_s() >= deadline_s) {
      ADD_FAILURE() << "nothing came within " << limit_s << " s";
      break;
    }
  }
  return all;
}

std::vector<TrialEvent> RunnerContract::wait_for_end(std::vector<TrialKey> keys) {
  return wait_until([&keys](const TrialEvent& event) {
    if (std::holds_alternative<TrialFinished>(event)) std::erase(keys, key_of(event));
    return keys.empty();
  });
}

std::vector<TrialEvent> RunnerContract::wait_for_reports(std::vector<TrialKey> keys) {
  return wait_until([&keys](const TrialEvent& event) {
    if (std::holds_alternative<TrialReported>(event)) std::erase(keys, key_of(event));
    return keys.empty();
  });
}

std::vector<TrialEvent> RunnerContract::wait_for(double seconds) {
  std::vector<TrialEvent> all;
  const double deadline_s = bench().now_s() + seconds;
  while (bench().now_s() < deadline_s) {
    auto events = runner().wait(deadline_s);
    if (!events) {
      ADD_FAILURE() << events.error().text();
      break;
    }
    for (TrialEvent& event : *events) {
      check_order(event);
      all.push_back(std::move(event));
    }
  }
  return all;
}

}  // namespace steptune::contract
