// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/held_machines.hpp"

#include "tests/unit/sagemaker/runner_fixture.hpp"
#include "trial_runner/sagemaker/job_name.hpp"
#include "trial_runner/sagemaker/job_price.hpp"

namespace steptune::simulated {
namespace {

using testing::SizeIs;

class HeldMachinesTest : public RunnerOnAccountTest {
 protected:
  TrainingJobs jobs() { return {connection().client(), connection().services().sagemaker}; }

  std::vector<HeldMachines> find() {
    TrainingJobs api = jobs();
    auto found = find_held_machines(api, clock.wall_time_s(), &options.prices);
    EXPECT_TRUE(found) << found.error().to_error().text();
    return found.value_or(std::vector<HeldMachines>{});
  }

  std::vector<Release> release_all(double patience_s = 30.0) {
    TrainingJobs api = jobs();
    auto released = release_pools(api, find(), clock, connection().services().wait_until,
                                  &options.prices, patience_s);
    EXPECT_TRUE(released) << released.error().to_error().text();
    return released.value_or(std::vector<Release>{});
  }

  /// Starts two trials and destroys the tuner, which leaves a pool and a running job.
  void abandon_two_trials() {
    options.parallel = options.backlog = 2;
    options.keep_alive_s = 600;
    start(trial(1));
    TrialSpec other = trial(2, "ml.m5.xlarge");
    other.resources.instance_count = 2;
    start(other);
    run_until_finished(1);
    kill_tuner();
  }
};

TEST_F(HeldMachinesTest, AreFoundWithTheirCostAfterATunersDeath) {
  program.ends_after_s = 400.0;
  options.parallel = options.backlog = 2;
  options.keep_alive_s = 200;
  start(trial(1));
  run_until_reported();
  run_for(200.0);
  TrialSpec late = trial(2, "ml.m5.xlarge");
  late.resources.instance_count = 2;
  start(late);
  run_until_finished(1);
  kill_tuner();
  account().advance_to(clock.now_s() + 60.0);
  const auto found = find();
  ASSERT_THAT(found, SizeIs(2));

  const AccountAudit audit = account().audit();
  const HeldMachines& pool = found[0];
  EXPECT_EQ(pool.holding, Holding::kept);
  EXPECT_EQ(pool.owner->key.trial, 1);
  EXPECT_EQ(to_text(pool.resources), "1 ml.g5.xlarge");
  EXPECT_EQ(pool.usd_per_hour, 1.408);
  ASSERT_TRUE(pool.retained_s);
  EXPECT_NEAR(*pool.retained_s, audit.pool_of(pool.job)->retained_s, 1.0);
  EXPECT_NEAR(*pool.left_s, 200.0 - *pool.retained_s, 1e-6);
  EXPECT_DOUBLE_EQ(*pool.usd_so_far, 1.408 * *pool.retained_s / 3600.0);

  const HeldMachines& job = found[1];
  EXPECT_EQ(job.holding, Holding::running);
  EXPECT_EQ(job.status, "Training");
  EXPECT_EQ(to_text(job.resources), "2 ml.m5.xlarge");
  EXPECT_EQ(job.usd_per_hour, 0.46);
  EXPECT_GT(*job.usd_so_far, 0.0);
  EXPECT_FALSE(job.left_s);
}

TEST_F(HeldMachinesTest, ManagedSpotIsDistinguished) {
  program.ends_after_s = 400.0;
  options.settings.spot = true;
  options.settings.max_wait_s = 7200.0;
  start(trial(1));
  run_until_reported();
  kill_tuner();
  const auto found = find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_TRUE(found[0].spot);
  EXPECT_EQ(found[0].usd_per_hour, 1.408) << "the on-demand price, the most that it can cost";
  EXPECT_FALSE(found[0].study_price) << "the job does not contain it";
  EXPECT_FALSE(found[0].spot_share);
}

TEST_F(HeldMachinesTest, CostThePriceOfTheirStudy) {
  program.ends_after_s = 400.0;
  options.settings.price_parts = {{"ml.g5.xlarge", {1.408, 0.408, 0.0}},
                                  {"ml.m5.xlarge", {0.23, 0.0, 0.01}}};
  options.parallel = options.backlog = 2;
  start(trial(1));
  TrialSpec two = trial(2, "ml.m5.xlarge");
  two.resources.instance_count = 2;
  start(two);
  run_until_reported();
  kill_tuner();
  options.prices.instances.clear();
  const auto found = find();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].study_price, (PriceParts{1.408, 0.408, 0.0}));
  EXPECT_EQ(found[0].usd_per_hour, 1.0);
  EXPECT_FALSE(found[0].spot_share) << "on demand";
  EXPECT_EQ(found[1].study_price, (PriceParts{0.46, 0.0, 0.02})) << "of both instances";
  EXPECT_DOUBLE_EQ(*found[1].usd_per_hour, 0.48);
  EXPECT_TRUE(found[0].usd_so_far);
}

TEST_F(HeldMachinesTest, ManagedSpotUsesTheStudysShare) {
  program.ends_after_s = 400.0;
  options.settings.spot = true;
  options.settings.spot_share = 0.4;
  options.settings.max_wait_s = 7200.0;
  options.settings.price_parts = {{"ml.g5.xlarge", {1.408, 0.0, 0.0}}};
  start(trial(1));
  run_until_reported();
  kill_tuner();
  const auto found = find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_TRUE(found[0].spot);
  EXPECT_EQ(found[0].spot_share, 0.4);
  EXPECT_EQ(found[0].usd_per_hour, 1.408) << "the on-demand price, the most that it can cost";
}

/// A job on one machine that costs $3.60 per hour, a tenth of a cent per second.
struct PricedJob {
  PricedJob() {
    state.name = "train";
    state.status = "Completed";
    state.created_wall_s = 1000.0;
    state.resources = {{"InstanceType", "ml.g5.xlarge"}, {"InstanceCount", 1}};
    table.instances["ml.g5.xlarge"].usd_per_hour = 3.6;
  }
  [[nodiscard]] std::optional<HeldMachines> held(double now_wall_s) const {
    return held_machines(state, now_wall_s, &table);
  }

  JobDescription state;
  PriceTable table;
};

TEST(HeldMachines, DoNotExistIfNoMachineIsKept) {
  PricedJob job;
  EXPECT_FALSE(job.held(2000.0)) << "no pool was asked for";
  for (const char* status : {"Terminated", "Reused", "Unheard"}) {
    job.state.pool = PoolState{status, 30.0, {}};
    EXPECT_FALSE(job.held(2000.0)) << status;
  }
}

TEST(HeldMachines, ARunningJobIsBilledSinceItsTrainingBegan) {
  PricedJob job;
  job.state.status = "InProgress";
  job.state.secondary = "Starting";
  job.state.pool = PoolState{"InUse", {}, {}};
  const auto starting = job.held(1200.0);
  ASSERT_TRUE(starting);
  EXPECT_EQ(starting->holding, Holding::running);
  EXPECT_EQ(starting->status, "Starting");
  EXPECT_EQ(starting->since_wall_s, 1000.0);
  EXPECT_EQ(starting->usd_so_far, 0.0);
  job.state.billed_since_wall_s = 1300.0;
  EXPECT_DOUBLE_EQ(job.held(1800.0)->usd_so_far.value(), 0.5);
  EXPECT_EQ(job.held(1290.0)->usd_so_far, 0.0) << "clocks disagree";
}

TEST(HeldMachines, SettlingMachinesAreBilledUntilTheirJobsEnd) {
  PricedJob job;
  job.state.billed_since_wall_s = 1300.0;
  job.state.billed_until_wall_s = 1700.0;
  job.state.pool = PoolState{"InUse", {}, {}};
  const auto held = job.held(5000.0);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->holding, Holding::settling);
  EXPECT_EQ(held->status, "InUse");
  EXPECT_DOUBLE_EQ(held->usd_so_far.value(), 0.4);
  EXPECT_FALSE(held->left_s);
}

TEST(HeldMachines, KeptMachinesAreBilledSinceTheirJobsEndByDefault) {
  PricedJob job;
  job.state.billed_since_wall_s = 1300.0;
  job.state.billed_until_wall_s = 2000.0;
  job.state.resources["KeepAlivePeriodInSeconds"] = 600;
  job.state.pool = PoolState{"Available", 90.0, {}};
  const auto held_by_job = job.held(2100.0);
  ASSERT_TRUE(held_by_job);
  EXPECT_EQ(held_by_job->since_wall_s, 2010.0);
  EXPECT_EQ(held_by_job->left_s, 510.0);
  EXPECT_DOUBLE_EQ(held_by_job->usd_so_far.value(), 0.09);
  job.state.pool->retained_s.reset();
  const auto untold = job.held(2100.0);
  EXPECT_EQ(untold->since_wall_s, 2000.0);
  EXPECT_EQ(untold->left_s, 500.0);
  EXPECT_DOUBLE_EQ(untold->usd_so_far.value(), 0.1);
  EXPECT_EQ(job.held(2700.0)->left_s, 0.0);
}

TEST(HeldMachinesOfOthers, AreNotPricedByAnEnvironmentThatWasCopied) {
  JobDescription state;
  state.name = "copy-of-a-trial";
  state.status = "InProgress";
  state.resources = {{"InstanceType", "ml.g5.xlarge"}, {"InstanceCount", 4}};
  state.price = JobPrice{{1.408, 0.408, 0.0}};
  PriceTable table;
  table.instances["ml.g5.xlarge"].usd_per_hour = 1.408;
  const auto copy = held_machines(state, 0.0, &table);
  ASSERT_TRUE(copy);
  EXPECT_FALSE(copy->study_price);
  EXPECT_DOUBLE_EQ(*copy->usd_per_hour, 4 * 1.408);
  state.name = job_name(job_name_prefix("study", "db"), {1, 1});
  EXPECT_EQ(held_machines(state, 0.0, &table)->study_price, state.price->parts);
}

TEST_F(HeldMachinesTest, AnUnknownTypeHasAnUnknownPrice) {
  abandon_two_trials();
  options.prices.instances.clear();
  const auto found = find();
  ASSERT_FALSE(found.empty());
  for (const HeldMachines& held : found) {
    EXPECT_FALSE(held.usd_per_hour);
    EXPECT_FALSE(held.usd_so_far);
  }
}

TEST_F(HeldMachinesTest, WaitingMachinesAreReleasedAndRunningOnesKept) {
  program.ends_after_s.reset();
  options.parallel = options.backlog = 2;
  start(trial(1));
  start(trial(2));
  run_until_reported();
  run_for(60.0);
  runner().stop({1, 1});
  run_until_finished(1);
  kill_tuner();
  account().advance_to(clock.now_s() + 10.0);
  const auto released = release_all();
  ASSERT_THAT(released, SizeIs(1));
  EXPECT_EQ(released[0].outcome, ReleaseOutcome::released);
  EXPECT_EQ(available_pools(), 0);
  const auto left = find();
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0].owner->key.trial, 2);
}

TEST_F(HeldMachinesTest, WaitsForSettlingMachinesAsRequested) {
  account_options.stages.pool_ready_s = 20.0;
  start(trial(1));
  // The job has just ended, and its machines need another 20 s.
  while (account().audit().jobs.empty() || account().audit().jobs[0].status != "Completed")
    run_for(1.0);
  kill_tuner();
  ASSERT_THAT(find(), SizeIs(1));
  EXPECT_EQ(find()[0].holding, Holding::settling);
  const auto impatient = release_all(5.0);
  ASSERT_THAT(impatient, SizeIs(1));
  EXPECT_EQ(impatient[0].outcome, ReleaseOutcome::not_ready);
  const auto patient = release_all(30.0);
  ASSERT_THAT(patient, SizeIs(1));
  EXPECT_EQ(patient[0].outcome, ReleaseOutcome::released);
  EXPECT_THAT(find(), SizeIs(0));
}

TEST_F(HeldMachinesTest, MachinesThatExpiredMeanwhileAreGone) {
  start(trial(1));
  run_until_finished(1);
  kill_tuner();
  account().advance_to(clock.now_s() + 10.0);
  const auto before = find();
  ASSERT_THAT(before, SizeIs(1));
  account().advance_to(clock.now_s() + options.keep_alive_s);
  TrainingJobs api = jobs();
  const auto released =
      release_pools(api, before, clock, connection().services().wait_until, &options.prices);
  ASSERT_TRUE(released);
  ASSERT_THAT(*released, SizeIs(1));
  EXPECT_EQ((*released)[0].outcome, ReleaseOutcome::gone);
}

TEST_F(HeldMachinesTest, AFailedReleaseKeepsEarlierReleases) {
  options.parallel = options.backlog = 2;
  account_options.faults = {{.kind = FaultKind::internal_error,
                             .operation = "UpdateTrainingJob",
                             .nth = 2,
                             .times = 100}};
  start(trial(1));
  start(trial(2, "ml.m5.xlarge"));
  run_until_finished(2);
  kill_tuner();
  account().advance_to(clock.now_s() + 10.0);
  const auto kept = find();
  ASSERT_THAT(kept, SizeIs(2));
  TrainingJobs api = jobs();
  EXPECT_FALSE(
      release_pools(api, kept, clock, connection().services().wait_until, &options.prices));
  EXPECT_EQ(available_pools(), 1);
}

TEST(Resources, HeterogeneousClustersAreReadByGroup) {
  const Json config = {{"InstanceGroups", Json::array({{{"InstanceGroupName", "gpu"},
                                                        {"InstanceType", "ml.p4d.24xlarge"},
                                                        {"InstanceCount", 1}},
                                                       {{"InstanceGroupName", "data"},
                                                        {"InstanceType", "ml.c5.18xlarge"},
                                                        {"InstanceCount", 2}}})}};
  EXPECT_EQ(to_text(resources_from_json(config)), "1 ml.p4d.24xlarge + 2 ml.c5.18xlarge");
  const Json absurd = {{"InstanceType", "ml.g5.xlarge"}, {"InstanceCount", 1e300}};
  EXPECT_EQ(to_text(resources_from_json(absurd)), "1 ml.g5.xlarge");
}

}  // namespace
}  // namespace steptune::simulated
