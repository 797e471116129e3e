// SPDX-License-Identifier: Apache-2.0
// Tests jobs and pools after the tuner died or left.
#include "tests/support/notice_texts.hpp"
#include "tests/unit/sagemaker/runner_fixture.hpp"

namespace steptune::simulated {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class TunerDeathTest : public RunnerOnAccountTest {
 protected:
  std::vector<TrialKey> adopt(const std::vector<Runner::Orphan>& orphans) {
    const auto adopted = runner().adopt(orphans);
    EXPECT_TRUE(adopted) << adopted.error().text();
    return adopted.value_or(std::vector<TrialKey>{});
  }
};

TEST_F(TunerDeathTest, ARunningJobIsAdoptedAndNotStartedTwice) {
  program.ends_after_s = 300.0;
  start(trial(1));
  run_until_reported();
  kill_tuner();
  reports = 0;
  EXPECT_EQ(adopt({{trial(1), starts.front().token}}), std::vector<TrialKey>{trial(1).key});
  run_until_finished(1);
  EXPECT_EQ(jobs(), 1U);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
  EXPECT_GT(reports, 200) << "output from before the tuner's death is read again";
}

TEST_F(TunerDeathTest, AnUnrecordedJobIsFoundByItsName) {
  program.ends_after_s.reset();
  start(trial(1));
  run_for(3.0);
  kill_tuner();
  EXPECT_EQ(adopt({{trial(1), ""}}).size(), 1U);
  run_until_reported();
  runner().stop(trial(1).key);
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::stopped);
  EXPECT_EQ(jobs(), 1U);
}

TEST_F(TunerDeathTest, AJobNotYetListedIsFound) {
  account_options.faults = {Fault{FaultKind::unknown_job, "DescribeTrainingJob", 1}};
  start(trial(1));
  run_for(3.0);
  kill_tuner();
  EXPECT_EQ(adopt({{trial(1), ""}}).size(), 1U);
  run_until_finished(1);
  EXPECT_EQ(jobs(), 1U);
}

TEST_F(TunerDeathTest, AJobThatEndedMeanwhileStillGivesItsResult) {
  start(trial(1));
  run_until_reported();
  kill_tuner();
  account().advance_to(clock.now_s() + 3600.0);
  reports = 0;
  EXPECT_EQ(adopt({{trial(1), ""}}).size(), 1U);
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
  EXPECT_GT(reports, 40);
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.001) << "includes the pool that was not released";
}

TEST_F(TunerDeathTest, AnAdoptedTrialPaysForThePoolThatItsJobUses) {
  start(trial(1));
  run_until_finished(1);
  run_for(20.0);
  start(trial(2));
  reports = 0;
  run_until_reported();
  kill_tuner();
  EXPECT_EQ(adopt({{trial(2), ""}}).size(), 1U);
  run_until_finished(2);
  EXPECT_EQ(starts.back().placement.at("start"), "warm");
  release();
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.001);
}

TEST_F(TunerDeathTest, ATrialThatNeverBecameAJobIsNotAdopted) {
  EXPECT_THAT(adopt({{trial(1), ""}}), IsEmpty());
}

TEST_F(TunerDeathTest, APoolThatADeadTunerLeftIsUsed) {
  start(trial(1));
  run_until_finished(1);
  run_for(5.0);
  kill_tuner();
  account().advance_to(clock.now_s() + 120.0);
  start(trial(2));
  run_until_finished(2);
  EXPECT_EQ(starts[1].placement.at("start"), "warm");
}

TEST_F(TunerDeathTest, APoolCostsAtMostItsKeepAlive) {
  start(trial(1));
  run_until_finished(1);
  run_for(5.0);
  kill_tuner();
  account().advance_to(clock.now_s() + 86'400.0);
  ASSERT_EQ(account().audit().pools.size(), 1U);
  EXPECT_LE(account().audit().pools[0].retained_s, options.keep_alive_s + 1.0);
}

TEST_F(TunerDeathTest, PoolsAreKeptTheShorterTheSoonerTheyAreUsed) {
  for (int number = 1; number <= 6; ++number) {
    start(trial(number));
    run_until_finished(static_cast<std::size_t>(number));
  }
  run_for(5.0);
  kill_tuner();
  account().advance_to(clock.now_s() + 86'400.0);
  const double retained_s = account().audit().pools.back().retained_s;
  EXPECT_GT(retained_s, 55.0);
  EXPECT_LT(retained_s, 150.0);
}

TEST_F(TunerDeathTest, PoolsAreKeptLongerIfATunerCameBackLate) {
  start(trial(1));
  run_until_finished(1);
  run_for(5.0);
  kill_tuner();
  account().advance_to(clock.now_s() + 120.0);
  for (int number = 2; number <= 3; ++number) {
    start(trial(number));
    run_until_finished(static_cast<std::size_t>(number));
  }
  EXPECT_EQ(starts[1].placement.at("start"), "warm");
  run_for(5.0);
  kill_tuner();
  account().advance_to(clock.now_s() + 86'400.0);
  EXPECT_GT(account().audit().pools.back().retained_s, 250.0);
}

TEST_F(TunerDeathTest, AHurriedEndNamesRunningJobs) {
  program.ends_after_s.reset();
  program.stop_s = 100.0;
  start(trial(1));
  run_until_reported();
  runner().stop(trial(1).key);
  ASSERT_TRUE(runner().release(0.0));
  EXPECT_THAT(texts_of(runner().take_notices()),
              testing::ElementsAre(HasSubstr("t1-a1 is still being stopped: $1.41 per hour")));
}

TEST_F(TunerDeathTest, AnEndingTunerNamesContinuingCosts) {
  program.ends_after_s = 600.0;
  options.backlog = 2;
  start(trial(1));
  start(trial(2));
  run_until_reported();
  const auto text = runner().detach();
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_THAT(*text, HasSubstr("t1-a1 continues: $1.41 per hour"));
  EXPECT_THAT(*text, testing::Not(HasSubstr("t2-a1")));
  kill_tuner();
  EXPECT_EQ(account().audit().jobs.size(), 1U);
  EXPECT_EQ(account().audit().jobs[0].status, "InProgress");
  EXPECT_EQ(adopt({{trial(1), ""}, {trial(2), ""}}), std::vector<TrialKey>{trial(1).key});
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
}

}  // namespace
}  // namespace steptune::simulated
