// SPDX-License-Identifier: Apache-2.0
// Tests the SageMaker runner on a simulated account: how trials become jobs, and how jobs end.
#include "tests/support/notice_texts.hpp"
#include "tests/unit/sagemaker/runner_fixture.hpp"

namespace steptune::simulated {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(RunnerOnAccountTest, TheBillIsTheAccountsCharge) {
  start(trial(1));
  run_until_finished(1);
  start(trial(2));
  run_until_finished(2);
  release();
  EXPECT_EQ(jobs(), 2U);
  EXPECT_EQ(available_pools(), 0);
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.001);
  EXPECT_GT(reported_usd(), 0.02);
}

TEST_F(RunnerOnAccountTest, ALaterTrialStartsWarm) {
  start(trial(1));
  run_until_finished(1);
  start(trial(2));
  run_until_finished(2);
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_EQ(starts[0].placement.at("start"), "cold");
  EXPECT_EQ(starts[1].placement.at("start"), "warm");
  EXPECT_EQ(starts[1].placement.at("instances"), "1 ml.g5.xlarge");
  EXPECT_LT(runner().expected_start_s(trial(3).resources), 60.0);
  EXPECT_GT(runner().expected_start_s(trial(3, "ml.m5.xlarge").resources), 100.0);
}

TEST_F(RunnerOnAccountTest, StartUpIsNotPartOfTheProgramsTime) {
  start(trial(1));
  run_until_finished(1);
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_NEAR(outcomes[0].duration_s, 30.0 + 60.0 + 10.0, 15.0) << "image, program, upload";
  EXPECT_GT(reports, 40);
}

TEST_F(RunnerOnAccountTest, APoolThatNothingNeedsIsGivenBackSoon) {
  start(trial(1));
  run_until_finished(1);
  run_for(options.idle_pool_s + 10.0);
  EXPECT_EQ(available_pools(), 0);
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.001);
}

TEST_F(RunnerOnAccountTest, TheLastTrialLeavesNoPool) {
  runner().expect_at_most(0);
  start(trial(1));
  run_until_finished(1);
  EXPECT_THAT(account().audit().pools, IsEmpty());
  const double before_s = clock.now_s();
  release();
  EXPECT_LT(clock.now_s() - before_s, 10.0) << "the runner waits for no pool";
  EXPECT_THAT(notices, IsEmpty());
}

TEST_F(RunnerOnAccountTest, AnAbsentPoolQuotaIsNoticedOnce) {
  account_options.warm_pool_quota = {};
  for (int number = 1; number <= 3; ++number) {
    start(trial(number));
    run_until_finished(static_cast<std::size_t>(number));
    run_for(5.0);
  }
  EXPECT_THAT(notices, ElementsAre(HasSubstr("ml.g5.xlarge for training warm pool usage")));
}

TEST_F(RunnerOnAccountTest, AStolenPoolIsNoticedAndTheTrialStillRuns) {
  account_options.faults = {{FaultKind::steal_pool, {}, {}, {}, "t1-a1"}};
  start(trial(1));
  run_until_finished(1);
  start(trial(2));
  run_until_finished(2);
  EXPECT_THAT(notices, Contains(HasSubstr("taken by job")));
  EXPECT_EQ(starts[1].placement.at("start"), "cold");
  EXPECT_EQ(outcomes[1].kind, OutcomeKind::completed);
}

TEST_F(RunnerOnAccountTest, ALostAnswerToCreateMakesNoSecondJob) {
  account_options.faults = {{FaultKind::drop_response, "CreateTrainingJob", 1}};
  start(trial(1));
  run_until_finished(1);
  EXPECT_EQ(jobs(), 1U);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
}

TEST_F(RunnerOnAccountTest, AFailedProgramIsReportedWithItsLastLines) {
  program.ends_after_s = 20.0;
  program.exit_code = 3;
  program.failure = "KeyError: 'lr'";
  start(trial(1));
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::failed);
  EXPECT_EQ(outcomes[0].exit_code, 3);
  EXPECT_THAT(outcomes[0].detail, AllOf(HasSubstr("KeyError: 'lr'"), HasSubstr("last output")));
}

TEST_F(RunnerOnAccountTest, ExitCode137IsOutOfMemory) {
  program.ends_after_s = 20.0;
  program.exit_code = 137;
  start(trial(1));
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::out_of_memory);
}

TEST_F(RunnerOnAccountTest, TheServiceEndsATrialAtItsWallLimit) {
  program.ends_after_s.reset();
  TrialSpec spec = trial(1);
  spec.limits.wall_s = 100.0;
  start(spec);
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::timed_out);
  EXPECT_THAT(outcomes[0].detail, HasSubstr("limit of"));
}

TEST_F(RunnerOnAccountTest, ASilentProgramIsEnded) {
  program.ends_after_s.reset();
  program.step_s = 0.0;
  TrialSpec spec = trial(1);
  spec.limits.idle_s = 90.0;
  start(spec);
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::hung);
}

TEST_F(RunnerOnAccountTest, APhaseUnderWayMayBeSilentForLonger) {
  program.first_line = R"([steptune] {"v":1,"phase":"evaluation"})";
  program.ends_after_s = 600.0;
  program.step_s = 0.0;
  TrialSpec spec = trial(1);
  spec.limits.idle_s = 90.0;
  start(spec);
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
}

TEST_F(RunnerOnAccountTest, ATrialWithoutCapacityIsRetriedThenAbandoned) {
  account_options.faults = {{FaultKind::capacity, {}, {}, {}, "t1-a1", {}, 2}};
  start(trial(1));
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
  EXPECT_EQ(jobs(), 3U);
  EXPECT_THAT(notices, Contains(HasSubstr("no capacity for trial 1")));
  start(trial(2));
  run_until_finished(2);
  EXPECT_EQ(starts[1].placement.at("start"), "warm")
      << "that jobs without machines left no pool says nothing of the quota for pools";
  EXPECT_THAT(notices, Not(Contains(HasSubstr("warm pool usage"))));
}

TEST_F(RunnerOnAccountTest, CapacityThatNeverComesIsNoFaultOfTheProgram) {
  account_options.faults = {{FaultKind::capacity, {}, {}, {}, "t1-a1", {}, 100}};
  start(trial(1));
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::not_started);
  EXPECT_THAT(outcomes[0].detail, HasSubstr("no capacity for this instance type"));
  EXPECT_EQ(jobs(), static_cast<std::size_t>(options.capacity_attempts));
}

TEST_F(RunnerOnAccountTest, MissingCapacityOfAClusterNamesItsMachines) {
  account_options.faults = {{FaultKind::capacity, {}, {}, {}, "t1-a1"}};
  TrialSpec spec = trial(1);
  spec.resources = {"", 1, {{"gpu", "ml.g5.xlarge", 1}, {"data", "ml.c5.xlarge", 2}}};
  start(spec);
  run_until_finished(1);
  EXPECT_THAT(notices, ElementsAre(HasSubstr("(1 ml.g5.xlarge + 2 ml.c5.xlarge)")));
}

TEST_F(RunnerOnAccountTest, AnInternalErrorIsLostNotFailedAndPaidFor) {
  account_options.faults = {{FaultKind::internal, {}, {}, {}, "t1-a1", 20.0}};
  start(trial(1));
  run_until_finished(1);
  release();
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::lost) << "the loop launches it again";
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.001);
}

TEST_F(RunnerOnAccountTest, AJobThatSomebodyDeletesIsNoResult) {
  Fault deleted{FaultKind::unknown_job, "DescribeTrainingJob", 3};
  deleted.times = 100;
  account_options.faults = {deleted};
  start(trial(1));
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::stopped);
  EXPECT_THAT(outcomes[0].detail, HasSubstr("stopped from outside"));
}

TEST_F(RunnerOnAccountTest, QuotaIsWaitedFor) {
  account_options.training_quota = {{"*", 1}};
  options.parallel = 2;
  start(trial(1));
  start(trial(2));
  run_until_reported();
  EXPECT_EQ(runner().trials_without_machine(), (std::vector{TrialKey{2, 1}}));
  run_until_finished(2);
  EXPECT_TRUE(runner().trials_without_machine().empty());
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
  EXPECT_EQ(outcomes[1].kind, OutcomeKind::completed);
  EXPECT_THAT(notices, Contains(HasSubstr("waiting for quota")));
}

TEST_F(RunnerOnAccountTest, AQuotaOfZeroIsReportedAtOnce) {
  account_options.training_quota = {{"*", 0}};
  start(trial(1));
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::not_started);
  EXPECT_THAT(outcomes[0].detail, HasSubstr("for training job usage"));
}

TEST_F(RunnerOnAccountTest, ATooSmallQuotaIsReportedAtOnce) {
  account_options.training_quota = {{"*", 4}};
  TrialSpec spec = trial(1);
  spec.resources.instance_count = 8;
  start(spec);
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::not_started);
  EXPECT_THAT(outcomes[0].detail, HasSubstr("is 4 Instances"));
}

TEST_F(RunnerOnAccountTest, InvalidInputIsRefusedBeforeARequest) {
  TrialSpec spec = trial(1);
  spec.configuration.set("long", std::string(2600, 'x'));
  start(spec);
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::not_started);
  EXPECT_EQ(jobs(), 0U);
}

TEST_F(RunnerOnAccountTest, ATypeWithoutAPriceIsNotStarted) {
  const auto started = runner().start(trial(1, "ml.p9.xlarge"));
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().text(), HasSubstr("no price for the instance type"));
}

TEST_F(RunnerOnAccountTest, SpotCapacityMayBeTakenAwayAndComesBack) {
  options.settings.spot = true;
  options.settings.checkpoint_s3_uri = "s3://bucket/checkpoints";
  options.settings.max_wait_s = 7200.0;
  account_options.faults = {{FaultKind::spot_interruption, {}, {}, {}, "t1-a1", 20.0}};
  start(trial(1));
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
  EXPECT_THAT(notices, Contains(HasSubstr("spot interruption")));
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.001);
}

TEST_F(RunnerOnAccountTest, WaitingForSpotCapacityIsNoSilence) {
  options.settings.spot = true;
  options.settings.checkpoint_s3_uri = "s3://bucket/checkpoints";
  options.settings.max_wait_s = 7200.0;
  account_options.stages.cold_start_s = 900.0;
  account_options.faults = {{FaultKind::spot_interruption, {}, {}, {}, "t1-a1", 20.0}};
  TrialSpec spec = trial(1);
  spec.limits.idle_s = 90.0;
  start(spec);
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
}

TEST_F(RunnerOnAccountTest, HeterogeneousClustersStartColdAtOnePrice) {
  TrialSpec spec = trial(1);
  spec.resources = {"", 1, {{"gpu", "ml.g5.xlarge", 1}, {"data", "ml.c5.xlarge", 2}}};
  start(spec);
  run_until_finished(1);
  EXPECT_EQ(starts[0].placement.at("instances"), "1 ml.g5.xlarge + 2 ml.c5.xlarge");
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.001);
  EXPECT_THAT(account().audit().pools, IsEmpty());
}

TEST_F(RunnerOnAccountTest, ManyJobsAreWatchedUnderTheAccountsRates) {
  options.parallel = 8;
  for (int number = 1; number <= 8; ++number)
    start(trial(number));
  run_until_finished(8);
  release();
  EXPECT_THAT(account().audit().refused, IsEmpty());
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.002);
}

TEST_F(RunnerOnAccountTest, AnOutageIsWaitedOut) {
  Fault outage{FaultKind::no_connection, {}, {}, {}};
  outage.nth = 10;
  outage.times = 30;
  account_options.faults = {outage};
  start(trial(1));
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
}

/// The account assigns the pool that has waited longest of several equal ones, and the runner
/// expects another one.
TEST_F(RunnerOnAccountTest, AllPoolsAreReleasedWhicheverTheServicePicks) {
  options.parallel = 2;
  start(trial(1));
  start(trial(2));
  run_until_finished(2);
  run_for(5.0);
  ASSERT_EQ(available_pools(), 2);
  start(trial(3));
  run_until_finished(3);
  ASSERT_EQ(starts.size(), 3U);
  EXPECT_EQ(starts[2].placement.at("start"), "warm");
  EXPECT_THAT(notices, IsEmpty());
  release();
  EXPECT_EQ(available_pools(), 0);
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.001);
}

TEST_F(RunnerOnAccountTest, AnIdlePoolThatTheServicePickedIsNotReleasedAsUnused) {
  options.parallel = 2;
  start(trial(1));
  start(trial(2));
  run_until_finished(2);
  run_for(20.0);
  ASSERT_EQ(available_pools(), 2);
  // The pool that the runner did not expect reaches its idle limit before the job has machines.
  start(trial(3));
  run_until_finished(3);
  ASSERT_EQ(starts.size(), 3U);
  EXPECT_EQ(starts[2].placement.at("start"), "warm");
  EXPECT_THAT(notices, IsEmpty());
  release();
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.001);
}

TEST_F(RunnerOnAccountTest, TwoTrialsThatGetEachOthersPoolsStartWarm) {
  options.parallel = 2;
  start(trial(1));
  start(trial(2));
  run_until_finished(2);
  run_for(5.0);
  start(trial(3));
  start(trial(4));
  run_until_finished(4);
  ASSERT_EQ(starts.size(), 4U);
  EXPECT_EQ(starts[2].placement.at("start"), "warm");
  EXPECT_EQ(starts[3].placement.at("start"), "warm");
  EXPECT_THAT(notices, IsEmpty());
  release();
  EXPECT_EQ(available_pools(), 0);
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.001);
}

TEST_F(RunnerOnAccountTest, AJobNotYetListedIsLookedUpAgain) {
  Fault unknown{FaultKind::unknown_job, "DescribeTrainingJob", 1};
  unknown.times = 3;
  account_options.faults = {unknown};
  start(trial(1));
  run_until_finished(1);
  EXPECT_EQ(jobs(), 1U);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
}

TEST_F(RunnerOnAccountTest, AChangeThatWasListedButCouldNotBeReadIsReadLater) {
  options.parallel = 4;
  // Each job then has three states: created, training, ended. Reading the last one fails.
  account_options.stages.download_s.clear();
  account_options.stages.image_download_s = 0.0;
  account_options.stages.upload_s = 0.0;
  Fault unread{FaultKind::no_connection, "DescribeTrainingJob", 9};
  unread.times = 4 * 12;
  account_options.faults = {unread};
  for (int number = 1; number <= 4; ++number)
    start(trial(number));
  // All jobs change at once and appear in one list.
  for (int look = 0; look < 40 && outcomes.size() < 4; ++look) {
    collect(clock.now_s());
    account().advance_to(clock.now_s() + 30.0);
  }
  EXPECT_EQ(outcomes.size(), 4U);
}

TEST_F(RunnerOnAccountTest, AnInternalErrorDoesNotEndPools) {
  account_options.faults = {{FaultKind::internal, {}, {}, {}, "t1-a1", 20.0}};
  for (int number = 1; number <= 3; ++number) {
    start(trial(number));
    run_until_finished(static_cast<std::size_t>(number));
  }
  EXPECT_EQ(starts[1].placement.at("start"), "cold");
  EXPECT_EQ(starts[2].placement.at("start"), "warm");
  EXPECT_THAT(notices, IsEmpty());
}

TEST_F(RunnerOnAccountTest, AJobStoppedBeforeItHasMachinesSaysNothingAboutPools) {
  start(trial(1));
  run_for(20.0);
  runner().stop(trial(1).key);
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::stopped);
  start(trial(2));
  run_until_finished(2);
  start(trial(3));
  run_until_finished(3);
  EXPECT_EQ(starts.back().placement.at("start"), "warm");
  EXPECT_THAT(notices, IsEmpty());
}

TEST_F(RunnerOnAccountTest, UploadTimeIsNoSilence) {
  account_options.stages.upload_s = 300.0;
  TrialSpec spec = trial(1);
  spec.limits.idle_s = 90.0;
  start(spec);
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
}

TEST_F(RunnerOnAccountTest, UnreadableLogsAreNoSilence) {
  // A fault of some minutes.
  Fault unreachable{FaultKind::no_connection, "FilterLogEvents", 40};
  unreachable.times = 60;
  account_options.faults = {unreachable};
  program.ends_after_s = 1200.0;
  TrialSpec spec = trial(1);
  spec.limits.idle_s = 90.0;
  start(spec);
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
}

TEST_F(RunnerOnAccountTest, LogsThatCannotBeReachedAreNotWaitedForWithoutEnd) {
  Fault unreachable{FaultKind::no_connection, "FilterLogEvents"};
  unreachable.probability = 1.0;
  account_options.faults = {unreachable};
  program.ends_after_s.reset();
  start(trial(1));
  std::string error;
  // Meanwhile other requests are answered.
  while (error.empty() && clock.now_s() < 1500.0) {
    const auto events = runner().wait(clock.now_s() + 10.0);
    if (!events) error = events.error().text();
  }
  EXPECT_THAT(error, HasSubstr("FilterLogEvents"));
}

TEST_F(RunnerOnAccountTest, AnEndAfterAnErrorNamesRunningJobs) {
  Fault denied{FaultKind::denied, "FilterLogEvents", 1};
  denied.times = 1000;
  account_options.faults = {denied};
  start(trial(1));
  std::string error;
  while (error.empty() && clock.now_s() < 3600.0) {
    const auto events = runner().wait(clock.now_s() + 10.0);
    if (!events) error = events.error().text();
  }
  EXPECT_THAT(error, HasSubstr("allow FilterLogEvents in the IAM policy"));
  account().advance_to(clock.now_s() + options.poll_interval_s);
  EXPECT_FALSE(runner().release(0.0));
  EXPECT_THAT(texts_of(runner().take_notices()),
              ElementsAre(HasSubstr("t1-a1 still runs: $1.41 per hour")));
}

TEST_F(RunnerOnAccountTest, ATunerLeavingAfterAnErrorNamesRunningJobs) {
  Fault denied{FaultKind::denied, "UpdateTrainingJob", 1};
  denied.times = 1000;
  account_options.faults = {denied};
  options.parallel = 2;
  start(trial(1));
  run_until_finished(1);
  run_for(5.0);
  ASSERT_EQ(available_pools(), 1);
  program.ends_after_s = 600.0;
  start(trial(2, "ml.m5.xlarge"));
  run_for(5.0);
  const auto text = runner().detach();
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_THAT(*text, AllOf(HasSubstr("t2-a1 continues"), HasSubstr("allow UpdateTrainingJob")));
}

TEST_F(RunnerOnAccountTest, AMissingPermissionToStopJobsIsReported) {
  Fault denied{FaultKind::denied, "StopTrainingJob", 1};
  denied.times = 1000;
  account_options.faults = {denied};
  start(trial(1));
  run_until_reported();
  runner().stop(trial(1).key);
  run_until_finished(1);
  EXPECT_THAT(notices, ElementsAre(AllOf(HasSubstr("cannot be stopped"),
                                         HasSubstr("allow StopTrainingJob in the IAM policy"))));
}

}  // namespace
}  // namespace steptune::simulated
