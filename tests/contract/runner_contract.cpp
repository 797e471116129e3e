// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/runner_contract.hpp"

#include <algorithm>

namespace steptune::contract {

TrialKey key_of(const TrialEvent& event) {
  return std::visit([](const auto& any) { return any.key; }, event);
}

TrialFinished finished(const std::vector<TrialEvent>& events, TrialKey key) {
  std::vector<TrialFinished> found;
  for (const TrialEvent& event : events) {
    const auto* end = std::get_if<TrialFinished>(&event);
    if (end != nullptr && end->key == key) found.push_back(*end);
  }
  EXPECT_EQ(found.size(), 1U) << "trial " << key.trial << " attempt " << key.attempt;
  return found.empty() ? TrialFinished{} : found.front();
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

TEST_P(RunnerContract, TellsStartThenReportsThenEnd) {
  use(1);
  const TrialKey key{7, 2};
  ASSERT_TRUE(runner().start(bench().quick_trial(key)));
  const auto events = wait_for_end({key});

  ASSERT_GE(events.size(), 4U);
  const auto* started = std::get_if<TrialStarted>(&events.front());
  ASSERT_NE(started, nullptr);
  EXPECT_EQ(started->key, key);
  double last_step = -1.0;
  for (std::size_t i = 1; i + 1 < events.size(); ++i) {
    const auto* reported = std::get_if<TrialReported>(&events[i]);
    ASSERT_NE(reported, nullptr) << "event " << i;
    EXPECT_EQ(reported->key, key);
    EXPECT_GT(reported->report.step.value_or(-1.0), last_step);
    EXPECT_GE(reported->report.received_s, started->time_s);
    last_step = reported->report.step.value_or(-1.0);
  }
  ASSERT_TRUE(std::holds_alternative<TrialFinished>(events.back()));
  const TrialFinished end = finished(events, key);
  EXPECT_EQ(end.outcome.kind, OutcomeKind::completed) << end.outcome.detail;
  EXPECT_EQ(end.outcome.exit_code, 0);
  EXPECT_GE(end.time_s, started->time_s);
  EXPECT_GE(end.outcome.duration_s, 0.0);
}

TEST_P(RunnerContract, StopEndsATrialAsStopped) {
  use(1);
  const TrialKey key{1, 1};
  ASSERT_TRUE(runner().start(bench().endless_trial(key)));
  wait_until([](const TrialEvent& event) { return std::holds_alternative<TrialReported>(event); });
  runner().stop(key);
  runner().stop(key);  // a second request changes nothing
  EXPECT_EQ(finished(wait_for_end({key}), key).outcome.kind, OutcomeKind::stopped);
}

TEST_P(RunnerContract, KillAllEndsEveryTrial) {
  use(2);
  const std::vector<TrialKey> keys{{1, 1}, {2, 1}};
  for (const TrialKey key : keys)
    ASSERT_TRUE(runner().start(bench().endless_trial(key)));
  runner().kill_all();
  const auto events = wait_for_end(keys);
  for (const TrialKey key : keys) {
    EXPECT_EQ(finished(events, key).outcome.kind, OutcomeKind::stopped);
  }
}

TEST_P(RunnerContract, CapacityIsWhatWasAskedForAndIsUsable) {
  use(2);
  EXPECT_EQ(runner().capacity(), 2);
  const std::vector<TrialKey> keys{{1, 1}, {2, 1}};
  for (const TrialKey key : keys)
    ASSERT_TRUE(runner().start(bench().quick_trial(key)));
  const auto events = wait_for_end(keys);
  for (const TrialKey key : keys) {
    EXPECT_EQ(finished(events, key).outcome.kind, OutcomeKind::completed);
  }
}

TEST_P(RunnerContract, APlaceIsFreeAgainOnceItsTrialHasEnded) {
  use(1);
  for (std::int64_t trial = 1; trial <= 5; ++trial) {
    const TrialKey key{trial, 1};
    const auto started = runner().start(bench().quick_trial(key));
    ASSERT_TRUE(started) << started.error().text();
    EXPECT_EQ(finished(wait_for_end({key}), key).outcome.kind, OutcomeKind::completed);
  }
}

TEST_P(RunnerContract, UnknownKeysAreIgnored) {
  use(1);
  const TrialKey key{1, 1};
  runner().stop({99, 1});
  ASSERT_TRUE(runner().start(bench().quick_trial(key)));
  runner().stop({1, 2});
  EXPECT_EQ(finished(wait_for_end({key}), key).outcome.kind, OutcomeKind::completed);
  runner().stop(key);
}

TEST_P(RunnerContract, WaitWithoutTrialsComesBackAtTheDeadline) {
  use(1);
  const double deadline_s = bench().now_s() + 0.01;
  while (bench().now_s() < deadline_s) {
    const auto events = runner().wait(deadline_s);
    ASSERT_TRUE(events);
    EXPECT_TRUE(events->empty());
  }
}

TEST_P(RunnerContract, WaitInThePastDoesNotBlock) {
  use(1);
  ASSERT_TRUE(runner().start(bench().endless_trial({1, 1})));
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(runner().wait(bench().now_s() - 1.0));
}

TEST_P(RunnerContract, DestructionEndsWhatStillRuns) {
  use(2);
  ASSERT_TRUE(runner().start(bench().endless_trial({1, 1})));
  ASSERT_TRUE(runner().start(bench().endless_trial({2, 1})));
}

TEST_P(RunnerContract, NothingToAdoptIsNoError) {
  use(1);
  const auto none = runner().adopt({});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());

  // A trial whose start was never recorded has no token.
  const std::vector<Runner::Orphan> orphans{{bench().quick_trial({1, 1}), ""}};
  const auto unknown = runner().adopt(orphans);
  ASSERT_TRUE(unknown) << unknown.error().text();
  EXPECT_TRUE(unknown->empty());
}

}  // namespace steptune::contract
