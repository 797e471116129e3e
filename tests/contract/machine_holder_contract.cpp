// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/contract/runner_contract.hpp"

namespace steptune::contract {
namespace {

constexpr double k_longest_release_s = 600.0;

}  // namespace

TEST_P(MachineHolderContract, TheBacklogIsUsableBeyondTheCapacity) {
  use(1);
  ASSERT_GT(machines().backlog(), runner().capacity());
  std::vector<TrialKey> keys;
  for (int trial = 1; trial <= machines().backlog(); ++trial) {
    keys.push_back({trial, 1});
    start(bench().quick_trial(keys.back()));
  }
  const auto events = wait_for_end(keys);
  for (const TrialKey key : keys)
    EXPECT_EQ(finished(events, key).outcome.kind, OutcomeKind::completed);
}

TEST_P(MachineHolderContract, NoMoreTrialsRunThanThereIsCapacityFor) {
  use(1);
  start(bench().endless_trial({1, 1}));
  start(bench().endless_trial({2, 1}));
  wait_for_reports({{1, 1}});
  EXPECT_TRUE(bench().is_running({1, 1}));
  EXPECT_FALSE(bench().is_running({2, 1}));
}

TEST_P(MachineHolderContract, ATrialThatWaitsCanBeStopped) {
  use(1);
  start(bench().endless_trial({1, 1}));
  start(bench().endless_trial({2, 1}));
  wait_for_reports({{1, 1}});
  runner().stop({2, 1});
  const auto events = wait_for_end({{2, 1}});
  EXPECT_EQ(finished(events, {2, 1}).outcome.kind, OutcomeKind::stopped);
  EXPECT_EQ(finished(events, {2, 1}).outcome.duration_s, 0.0);
  EXPECT_TRUE(bench().is_running({1, 1}));
}

TEST_P(MachineHolderContract, AStartOnKeptMachinesIsExpectedToBeSooner) {
  use(1);
  const Resources resources = bench().quick_trial({1, 1}).resources;
  const double cold_s = machines().expected_start_s(resources);
  EXPECT_TRUE(std::isfinite(cold_s));
  start(bench().quick_trial({1, 1}));
  wait_for_end({{1, 1}});
  const double warm_s = machines().expected_start_s(resources);
  EXPECT_GE(warm_s, 0.0);
  EXPECT_LT(warm_s, cold_s);
}

TEST_P(MachineHolderContract, ReleaseGivesEverythingBack) {
  use(1);
  start(bench().quick_trial({1, 1}));
  wait_for_end({{1, 1}});
  EXPECT_TRUE(bench().holds_machines()) << "kept for the next trial";
  const auto released = machines().release(k_longest_release_s);
  ASSERT_TRUE(released) << released.error().text();
  EXPECT_FALSE(bench().holds_machines());
  EXPECT_TRUE(machines().take_notices().empty()) << "all notices were taken";
}

TEST_P(MachineHolderContract, AReleaseWithoutTimeReportsTheMachinesThatAreLeft) {
  use(1);
  start(bench().endless_trial({1, 1}));
  wait_for_reports({{1, 1}});
  const double before_s = bench().now_s();
  ASSERT_TRUE(machines().release(0.0));
  EXPECT_LT(bench().now_s(), before_s + 10.0);
  EXPECT_TRUE(bench().holds_machines());
  EXPECT_EQ(machines().take_notices().size(), 1U);
}

TEST_P(MachineHolderContract, NoMachinesAreKeptIfNoMoreTrialsAreExpected) {
  use(1);
  machines().expect_at_most(0);
  start(bench().quick_trial({1, 1}));
  wait_for_end({{1, 1}});
  EXPECT_FALSE(bench().holds_machines());
}

TEST_P(MachineHolderContract, NoticesAndOverheadAreReportedOnce) {
  use(1);
  start(bench().quick_trial({1, 1}));
  wait_for_end({{1, 1}});
  wait_for(bench().a_while_s());  // kept machines cost something meanwhile
  ASSERT_TRUE(machines().release(k_longest_release_s));
  const std::vector<UnusedTime> unused = machines().take_unused();
  EXPECT_GT(total_usd(unused), 0.0);
  for (const UnusedTime& time : unused) {
    EXPECT_FALSE(time.machine.empty());
    EXPECT_LT(time.from_wall_s, time.to_wall_s);
  }
  EXPECT_TRUE(machines().take_unused().empty());
  (void)machines().take_notices();
  EXPECT_TRUE(machines().take_notices().empty());
}

TEST_P(MachineHolderContract, DetachedTrialsContinueAndAreAdopted) {
  use(1);
  const TrialKey key{1, 1};
  start(bench().endless_trial(key));
  start(bench().endless_trial({2, 1}));
  const std::string token = token_of(wait_for_reports({key}), key);
  const auto detached_jobs = machines().detach();
  ASSERT_TRUE(detached_jobs) << detached_jobs.error().text();
  EXPECT_NE(detached_jobs->find("continues"), std::string::npos) << *detached_jobs;
  EXPECT_TRUE(wait_for(bench().a_while_s()).empty()) << "no events after it";
  destroy();
  EXPECT_TRUE(bench().is_running(key));

  restart();
  const std::vector<Runner::Orphan> orphans{{bench().endless_trial(key), token},
                                            {bench().endless_trial({2, 1}), ""}};
  const auto adopted = runner().adopt(orphans);
  ASSERT_TRUE(adopted) << adopted.error().text();
  EXPECT_EQ(*adopted, std::vector<TrialKey>{key}) << "the other trial never had a machine";
  runner().stop(key);
  EXPECT_EQ(finished(wait_for_end({key}), key).outcome.kind, OutcomeKind::stopped);
}

}  // namespace steptune::contract
