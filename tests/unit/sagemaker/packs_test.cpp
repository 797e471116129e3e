// SPDX-License-Identifier: Apache-2.0
// Tests trials that one job runs in turn, on a simulated account.
#include <functional>

#include "tests/unit/sagemaker/runner_fixture.hpp"

namespace steptune::simulated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PacksTest : public RunnerOnAccountTest {
 protected:
  PacksTest() { options.trials_per_job = 4; }

  /// Returns a trial with `seconds` for measuring.
  static TrialSpec given(std::int64_t number, double seconds,
                         const std::string& type = "ml.g5.xlarge") {
    TrialSpec spec = trial(number, type);
    spec.time_to_measure_s = seconds;
    return spec;
  }

  std::vector<OutcomeKind> kinds() const {
    std::vector<OutcomeKind> kinds;
    for (const Outcome& outcome : outcomes)
      kinds.push_back(outcome.kind);
    return kinds;
  }
};

TEST_F(PacksTest, TrialsOfOneMachineShareAJobAndItsBill) {
  options.backlog = 8;
  program.ends_after_s.reset();
  for (int number = 1; number <= 3; ++number)
    start(given(number, 60.0));
  run_until_finished(3);
  EXPECT_EQ(jobs(), 1U);
  ASSERT_EQ(starts.size(), 3U);
  EXPECT_EQ(starts[0].placement.at("start"), "cold");
  EXPECT_EQ(starts[1].placement.at("start"), "in turn");
  EXPECT_NEAR(starts[1].time_s - starts[0].time_s, 60.5, 1.5);
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.kind, OutcomeKind::stopped);
    EXPECT_TRUE(outcome.had_enough);
    EXPECT_GT(outcome.billed_s, 60.0);
  }
  EXPECT_GT(reports, 3 * 40);
  release();
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.0005);
}

TEST_F(PacksTest, AClockThatIsBehindTheServicesDelaysNoReport) {
  account_options.clock_ahead_s = 240.0;
  options.backlog = 8;
  program.ends_after_s.reset();
  start(given(1, 60.0));
  start(given(2, 60.0));
  const double asked_s = clock.now_s();
  run_until_reported();
  EXPECT_LT(clock.now_s() - asked_s, account_options.stages.cold_start_s + 120.0);
}

TEST_F(PacksTest, TrialsOnOtherTypesOrSeveralMachinesHaveSeparateJobs) {
  options.backlog = 8;
  start(given(1, 30.0));
  start(given(2, 30.0, "ml.m5.xlarge"));
  start(given(3, 30.0));
  TrialSpec cluster = given(4, 30.0);
  cluster.resources.instance_count = 2;
  start(cluster);
  run_until_finished(4);
  EXPECT_EQ(jobs(), 3U) << "trials 1 and 3 share a job";
}

TEST_F(PacksTest, OnlyTheLastCancelledTrialEndsTheJob) {
  options.backlog = 8;
  program.ends_after_s.reset();
  start(given(1, 100.0));
  start(given(2, 100.0));
  run_until_reported();
  runner().stop({1, 1});
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::stopped);
  EXPECT_FALSE(outcomes[0].had_enough) << "the trial was asked to end";
  EXPECT_NEAR(outcomes[0].duration_s, 100.5, 2.0)
      << "the job's shell cannot be asked to stop one trial early";
  reports = 0;
  run_until_reported();
  runner().stop({2, 1});
  run_until_finished(2);
  EXPECT_LT(outcomes[1].duration_s, 60.0) << "the job itself was stopped";
}

TEST_F(PacksTest, ATrialThatIsClearlySlowLeavesItsTimeToTheOthers) {
  options.backlog = 8;
  program.ends_after_s.reset();
  TrialSpec slow = given(1, 300.0);
  slow.slow_limit = SlowLimit{2.0, 5.0, 0.5 * program.step_s / program.samples_per_step};
  start(slow);
  start(given(2, 60.0));
  run_until_finished(2);
  EXPECT_EQ(jobs(), 1U);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::stopped);
  EXPECT_TRUE(outcomes[0].had_enough);
  EXPECT_TRUE(outcomes[0].was_slow);
  EXPECT_LT(outcomes[0].duration_s, 60.0);
  EXPECT_TRUE(outcomes[1].had_enough);
  EXPECT_FALSE(outcomes[1].was_slow);
  release();
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.0005);
}

TEST_F(PacksTest, ATrialThatIsSilentLeavesItsTimeToTheOthers) {
  options.backlog = 8;
  program.ends_after_s.reset();
  program.step_s = 0.0;
  for (int number = 1; number <= 3; ++number) {
    TrialSpec silent = given(number, 1000.0);
    silent.limits.idle_s = 90.0;
    start(silent);
  }
  run_until_finished(3);
  EXPECT_EQ(jobs(), 1U);
  EXPECT_THAT(kinds(), testing::Each(OutcomeKind::hung));
  for (const Outcome& outcome : outcomes) {
    EXPECT_NEAR(outcome.duration_s, 91.0, 5.0);
    EXPECT_THAT(outcome.detail, HasSubstr("no output for"));
  }
  release();
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.0005);
}

TEST_F(PacksTest, APhaseUnderWayMayBeSilentForLonger) {
  program.first_line = R"([steptune] {"v":1,"phase":"evaluation"})";
  program.ends_after_s = 600.0;
  program.step_s = 0.0;
  TrialSpec spec = given(1, 1000.0);
  spec.limits.idle_s = 90.0;
  start(spec);
  run_until_finished(1);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
}

TEST_F(PacksTest, AllTrialsThatMustEndAreStoppedAtOnce) {
  options.backlog = 8;
  program.ends_after_s.reset();
  for (int number = 1; number <= 3; ++number)
    start(given(number, 1000.0));
  run_until_reported();
  const double asked_s = clock.now_s();
  runner().kill_all();
  run_until_finished(3);
  EXPECT_LT(clock.now_s() - asked_s, 60.0);
  EXPECT_THAT(kinds(), testing::Each(OutcomeKind::stopped));
}

TEST_F(PacksTest, TrialsThatADeadJobDidNotRunAreReturned) {
  options.backlog = 8;
  program.ends_after_s.reset();
  Fault fault{FaultKind::internal};
  fault.after_s = 90.0;
  fault.times = 1;
  account_options.faults.push_back(fault);
  for (int number = 1; number <= 4; ++number)
    start(given(number, 60.0));
  run_until_finished(4);
  EXPECT_THAT(kinds(), ElementsAre(OutcomeKind::stopped, OutcomeKind::lost, OutcomeKind::stopped,
                                   OutcomeKind::stopped));
  EXPECT_EQ(jobs(), 2U) << "trials 3 and 4 ran in another job";
  release();
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.0005);
}

TEST_F(PacksTest, AJobThatDiesInItsFirstTurnIsPaidByThatTrial) {
  options.backlog = 8;
  program.ends_after_s.reset();
  Fault fault{FaultKind::internal};
  fault.after_s = 5.0;
  account_options.faults.push_back(fault);
  start(given(1, 60.0));
  start(given(2, 60.0));
  run_until_finished(2);
  EXPECT_THAT(kinds(), ElementsAre(OutcomeKind::lost, OutcomeKind::stopped));
  EXPECT_GT(outcomes[0].billed_usd.value(), 0.0);
  release();
  EXPECT_NEAR(reported_usd(), audited_usd(), 0.0005);
}

TEST_F(PacksTest, MissingCapacityIsAFailedAttemptOfAllTrialsOfTheJob) {
  options.backlog = 8;
  account_options.faults = {{FaultKind::capacity, {}, {}, {}, {}, {}, 100}};
  for (int number = 1; number <= 3; ++number)
    start(given(number, 60.0));
  run_until_finished(3);
  EXPECT_THAT(kinds(), testing::Each(OutcomeKind::not_started));
  EXPECT_EQ(jobs(), static_cast<std::size_t>(options.capacity_attempts));
}

TEST_F(PacksTest, ALaterTunerFindsThemByTheJobThatTheyAreIn) {
  options.backlog = 8;
  program.ends_after_s.reset();
  for (int number = 1; number <= 3; ++number)
    start(given(number, 60.0));
  run_until_finished(1);
  kill_tuner();
  const auto adopted = runner().adopt(
      std::vector<Runner::Orphan>{{given(2, 60.0), starts.front().token}, {given(3, 60.0), ""}});
  ASSERT_TRUE(adopted) << adopted.error().text();
  EXPECT_THAT(*adopted, ElementsAre(TrialKey{2, 1}, TrialKey{3, 1}));
  run_until_finished(3);
  EXPECT_EQ(jobs(), 1U);
  EXPECT_TRUE(outcomes[2].had_enough) << "the job records the time that the trial was given";
}

TEST_F(PacksTest, ALaterTunerLooksBeyondAJobWithoutMachines) {
  options.backlog = 8;
  program.ends_after_s.reset();
  account_options.faults = {{FaultKind::capacity, {}, {}, {}, "t1-a1"}};
  start(given(1, 60.0));
  run_for(account_options.stages.cold_start_s + 20.0);
  kill_tuner();
  start(given(2, 60.0));
  start(given(1, 60.0));
  run_until_reported();
  kill_tuner();
  const auto adopted =
      runner().adopt(std::vector<Runner::Orphan>{{given(1, 60.0), ""}, {given(2, 60.0), ""}});
  ASSERT_TRUE(adopted) << adopted.error().text();
  EXPECT_THAT(*adopted, testing::UnorderedElementsAre(TrialKey{1, 1}, TrialKey{2, 1}));
  run_until_finished(2);
  EXPECT_EQ(jobs(), 2U) << "one without machines, and one for both trials";
}

TEST_F(PacksTest, ATrialThatCannotBePackedHasItsOwnJob) {
  options.backlog = 8;
  TrialSpec broken = given(1, 30.0);
  broken.argv = {"python3", "-c", "import train\ntrain.main()"};
  start(broken);
  start(given(2, 30.0));
  run_until_finished(2);
  EXPECT_EQ(jobs(), 2U);
}

TEST_F(PacksTest, ATrialWithTooMuchTextForThePacksShellHasItsOwnJob) {
  options.backlog = 8;
  TrialSpec wordy = given(1, 30.0);
  wordy.configuration.set("a", std::string(2000, 'x'));
  wordy.configuration.set("b", std::string(2000, 'x'));
  start(wordy);
  start(given(2, 30.0));
  run_until_finished(2);
  EXPECT_THAT(kinds(), ElementsAre(OutcomeKind::completed, OutcomeKind::stopped));
  EXPECT_EQ(jobs(), 2U);
}

TEST_F(PacksTest, TrialsThatOneRequestCannotHoldUseTheSamePool) {
  options.backlog = 8;
  for (int number = 1; number <= 2; ++number) {
    TrialSpec wordy = given(number, 30.0);
    wordy.argv.insert(wordy.argv.end(), 60, std::string(250, 'x'));
    start(wordy);
  }
  runner().expect_at_most(0);
  run_until_finished(2);
  EXPECT_EQ(jobs(), 2U);
  EXPECT_EQ(starts[1].placement.at("start"), "warm");
}

TEST_F(PacksTest, PlacesAreOpenForAJobOfOneMachine) {
  options.backlog = 8;
  EXPECT_EQ(runner().open_places(), 4);
  Resources same;
  same.instance_type = "ml.g5.xlarge";
  Resources other;
  other.instance_type = "ml.m5.xlarge";
  EXPECT_LT(runner().expected_start_s(other), 100.0) << "of a start that four share, a quarter";
  start(given(1, 30.0));
  EXPECT_EQ(runner().open_places(), 3);
  EXPECT_LT(runner().expected_start_s(same), 2.0);
  EXPECT_EQ(runner().expected_start_s(other), std::numeric_limits<double>::infinity());
}

TEST_F(PacksTest, EveryOpenPlaceTakesATrial) {
  options.parallel = 3;
  const int places = runner().open_places();
  EXPECT_EQ(places, 3 * options.trials_per_job);
  EXPECT_GE(runner().backlog(), places);
  for (int number = 1; number <= places; ++number)
    start(given(number, 30.0));
}

TEST_F(PacksTest, AJobOfALostAnswerRunsItsTrials) {
  options.backlog = 8;
  program.ends_after_s.reset();
  Fault lost{FaultKind::drop_response, "CreateTrainingJob", 1};
  lost.times = 12;
  account_options.faults = {lost};
  start(given(1, 60.0));
  run_for(1.0);
  ASSERT_EQ(jobs(), 1U) << "all attempts of one request";
  account().advance_to(clock.now_s() + options.poll_interval_s);
  start(given(2, 60.0));
  run_until_finished(2);
  EXPECT_EQ(jobs(), 2U);
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_THAT(kinds(), ElementsAre(OutcomeKind::stopped, OutcomeKind::stopped));
}

}  // namespace
}  // namespace steptune::simulated
