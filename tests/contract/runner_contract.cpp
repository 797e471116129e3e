// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/runner_contract.hpp"

#include <algorithm>

namespace steptune::contract {

namespace {

constexpr double k_moment_s = 0.2;  ///< waiting time for events that must not come

}  // namespace

TEST_P(RunnerContract, ReportsStartThenReportsThenEnd) {
  use(1);
  const TrialKey key{7, 2};
  start(bench().quick_trial(key));
  const auto events = wait_for_end({key});

  ASSERT_GE(events.size(), 4U);
  const auto* started = std::get_if<TrialStarted>(&events.front());
  ASSERT_NE(started, nullptr);
  EXPECT_EQ(started->key, key);
  double last_step = -1.0;
  for (std::size_t i = 1; i + 1 < events.size(); ++i) {
    if (std::holds_alternative<TrialDisturbed>(events[i])) continue;
    const auto* reported = std::get_if<TrialReported>(&events[i]);
    ASSERT_NE(reported, nullptr) << "event " << i;
    EXPECT_EQ(reported->key, key);
    if (!reported->report.hook_events.empty()) continue;  // not a progress report
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
  start(bench().endless_trial(key));
  wait_for_reports({key});
  runner().stop(key);
  runner().stop(key);  // a second request changes nothing
  EXPECT_EQ(finished(wait_for_end({key}), key).outcome.kind, OutcomeKind::stopped);
  EXPECT_FALSE(bench().is_running(key));
}

TEST_P(RunnerContract, KillAllEndsEveryTrial) {
  use(2);
  const std::vector<TrialKey> keys = key_for_each_place();
  for (const TrialKey key : keys)
    start(bench().endless_trial(key));
  runner().kill_all();
  const auto events = wait_for_end(keys);
  for (const TrialKey key : keys) {
    EXPECT_EQ(finished(events, key).outcome.kind, OutcomeKind::stopped);
    EXPECT_FALSE(bench().is_running(key));
  }

  const TrialKey next{9, 1};
  start(bench().endless_trial(next));
  wait_for_reports({next});
  runner().stop(next);
  EXPECT_EQ(finished(wait_for_end({next}), next).outcome.kind, OutcomeKind::stopped);
}

TEST_P(RunnerContract, ATrialStoppedAtOnceLeavesItsPlaceToTheNext) {
  use(1);
  start(bench().endless_trial({1, 1}));
  wait_for_reports({{1, 1}});
  runner().stop({1, 1});
  wait_for_end({{1, 1}});
  start(bench().endless_trial({2, 1}));
  runner().stop({2, 1});
  EXPECT_EQ(finished(wait_for_end({{2, 1}}), {2, 1}).outcome.kind, OutcomeKind::stopped);
  start(bench().endless_trial({3, 1}));
  wait_for_reports({{3, 1}});
  runner().stop({3, 1});
  EXPECT_EQ(finished(wait_for_end({{3, 1}}), {3, 1}).outcome.kind, OutcomeKind::stopped);
}

TEST_P(RunnerContract, CapacityIsAsRequestedAndUsable) {
  use(2);
  EXPECT_EQ(runner().capacity(), std::min(2, GetParam().most_parallel));
  const std::vector<TrialKey> keys = key_for_each_place();
  for (const TrialKey key : keys)
    start(bench().quick_trial(key));
  const auto events = wait_for_end(keys);
  for (const TrialKey key : keys) {
    EXPECT_EQ(finished(events, key).outcome.kind, OutcomeKind::completed);
  }
}

TEST_P(RunnerContract, APlaceIsFreeAgainOnceItsTrialHasEnded) {
  use(1);
  for (std::int64_t trial = 1; trial <= 5; ++trial) {
    const TrialKey key{trial, 1};
    start(bench().quick_trial(key));
    EXPECT_EQ(finished(wait_for_end({key}), key).outcome.kind, OutcomeKind::completed);
  }
}

TEST_P(RunnerContract, UnknownKeysAreIgnored) {
  use(1);
  const TrialKey key{1, 1};
  runner().stop({99, 1});
  start(bench().quick_trial(key));
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
  start(bench().endless_trial({1, 1}));
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(runner().wait(bench().now_s() - 1.0));
}

TEST_P(RunnerContract, EachStartIsFollowedByExactlyOneEnd) {
  use(2);
  // The trials end by themselves, by `stop` (running and before the start), and by `kill_all`; then
  // comes a retry.
  const bool side_by_side = runner().capacity() > 1;
  start(bench().quick_trial({1, 1}));
  if (side_by_side) start(bench().endless_trial({2, 1}));
  auto events = wait_for_end({{1, 1}});
  start(bench().endless_trial({3, 1}));
  runner().stop({3, 1});
  const auto more = wait_for_end({{3, 1}});
  events.insert(events.end(), more.begin(), more.end());
  start(bench().quick_trial({1, 2}));
  runner().kill_all();
  std::vector<TrialKey> keys{{1, 2}};
  if (side_by_side) keys.push_back({2, 1});
  const auto last = wait_for_end(keys);
  events.insert(events.end(), last.begin(), last.end());
  keys.insert(keys.end(), {{1, 1}, {3, 1}});
  for (const TrialKey key : keys)
    static_cast<void>(finished(events, key));  // fails unless each has ended exactly once
  EXPECT_EQ(finished(events, {1, 1}).outcome.kind, OutcomeKind::completed);
  EXPECT_TRUE(wait_for(k_moment_s).empty());
}

TEST_P(RunnerContract, BeforeAStudyHasBegunNothingIsStartedOrAdopted) {
  make(1);
  const auto started = runner().start(bench().quick_trial({1, 1}));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::internal) << started.error().text();
  const auto adopted = runner().adopt({});
  ASSERT_FALSE(adopted);
  EXPECT_EQ(adopted.error().kind, ErrorKind::internal) << adopted.error().text();
  EXPECT_TRUE(wait_for(k_moment_s).empty());
  EXPECT_FALSE(bench().is_running({1, 1}));

  ASSERT_TRUE(runner().begin_study("contract", "1"));
  start(bench().quick_trial({1, 1}));
  EXPECT_EQ(finished(wait_for_end({{1, 1}}), {1, 1}).outcome.kind, OutcomeKind::completed);
}

TEST_P(RunnerContract, ASecondStudyIsRefusedAndChangesNothing) {
  use(1);
  const TrialKey key{1, 1};
  start(bench().endless_trial(key));
  wait_for_reports({key});
  for (const char* name : {"contract", "another"}) {
    const auto begun = runner().begin_study(name, "1");
    ASSERT_FALSE(begun) << name;
    EXPECT_EQ(begun.error().kind, ErrorKind::conflict) << begun.error().text();
  }
  EXPECT_TRUE(bench().is_running(key));
  runner().stop(key);
  EXPECT_EQ(finished(wait_for_end({key}), key).outcome.kind, OutcomeKind::stopped);
  start(bench().quick_trial({2, 1}));
  EXPECT_EQ(finished(wait_for_end({{2, 1}}), {2, 1}).outcome.kind, OutcomeKind::completed);
}

TEST_P(RunnerContract, AFullRunnerIsUnavailableUntilAPlaceIsFree) {
  use(1);
  std::vector<TrialKey> keys;
  for (int trial = 1; trial <= places(); ++trial) {
    keys.push_back({trial, 1});
    start(bench().endless_trial(keys.back()));
  }
  const TrialKey next{100, 1};
  const auto refused = runner().start(bench().quick_trial(next));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable) << refused.error().text();
  runner().kill_all();
  const auto events = wait_for_end(keys);
  EXPECT_TRUE(
      std::ranges::none_of(events, [&](const TrialEvent& event) { return key_of(event) == next; }));
  start(bench().quick_trial(next));
  EXPECT_EQ(finished(wait_for_end({next}), next).outcome.kind, OutcomeKind::completed);
}

TEST_P(RunnerContract, AKeyThatIsUnderWayIsAConflict) {
  use(2);
  const TrialKey key{1, 1};
  start(bench().endless_trial(key));
  const auto expect_conflict = [&] {
    const auto again = runner().start(bench().endless_trial(key));
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind, ErrorKind::conflict) << again.error().text();
  };
  expect_conflict();
  if (runner().capacity() > 1) {
    start(bench().quick_trial({2, 1}));
    wait_for_end({{2, 1}});
    expect_conflict();
  }
  runner().stop(key);
  EXPECT_EQ(finished(wait_for_end({key}), key).outcome.kind, OutcomeKind::stopped);
}

TEST_P(RunnerContract, DestructionEndsOnlyLocalTrials) {
  use(2);
  const std::vector<TrialKey> keys = key_for_each_place();
  for (const TrialKey key : keys)
    start(bench().endless_trial(key));
  wait_for_reports(keys);
  const bool trials_survive = runner().machine_holder().holds_machines();
  for (const TrialKey key : keys)
    EXPECT_TRUE(bench().is_running(key));
  destroy();
  for (const TrialKey key : keys)
    EXPECT_EQ(bench().is_running(key), trials_survive) << "trial " << key.trial;
}

TEST_P(RunnerContract, TheNextRunnerAdoptsSurvivingTrials) {
  use(1);
  const TrialKey key{1, 1};
  start(bench().endless_trial(key));
  const std::string token = token_of(wait_for_reports({key}), key);
  destroy();
  const bool survived = bench().is_running(key);
  restart();
  const std::vector<Runner::Orphan> orphans{{bench().endless_trial(key), token}};
  const auto adopted = runner().adopt(orphans);
  ASSERT_TRUE(adopted) << adopted.error().text();
  EXPECT_EQ(*adopted, survived ? std::vector<TrialKey>{key} : std::vector<TrialKey>{});
  if (survived) {
    runner().stop(key);
    EXPECT_EQ(finished(wait_for_end({key}), key).outcome.kind, OutcomeKind::stopped);
  }
  EXPECT_TRUE(wait_for(k_moment_s).empty());
  EXPECT_FALSE(bench().is_running(key));
}

TEST_P(RunnerContract, TheMachineHolderIsAlwaysTheSame) {
  make(1);
  const MachineHolder* before = &runner().machine_holder();
  ASSERT_TRUE(runner().begin_study("contract", "1"));
  EXPECT_EQ(&runner().machine_holder(), before);
}

TEST_P(RunnerContract, AdoptingNothingIsNoError) {
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
