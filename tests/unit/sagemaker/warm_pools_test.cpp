// SPDX-License-Identifier: Apache-2.0
// Tests the pools that jobs leave behind, on a simulated account.
#include "trial_runner/sagemaker/warm_pools.hpp"

#include "tests/support/notice_texts.hpp"
#include "tests/unit/sagemaker/runner_fixture.hpp"
#include "trial_runner/sagemaker/job_request.hpp"

namespace steptune::simulated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class WarmPoolsTest : public RunnerOnAccountTest {
 protected:
  WarmPools& pools() {
    if (!pools_) {
      api_.emplace(connection().client(), connection().services().sagemaker);
      pools_.emplace(clock, *api_, outage_, sink_, options);
    }
    return *pools_;
  }

  void request_job(const std::string& name, int keep_alive_s = 300) {
    pools();
    const TrialSpec spec = trial(1);
    const auto created =
        api_->create(create_training_job_input(options.settings, {name, spec, keep_alive_s}));
    ASSERT_TRUE(created) << created.error().message;
  }

  /// Runs a job to its end.
  void run_job(const std::string& name, int keep_alive_s = 300) {
    request_job(name, keep_alive_s);
    while (!api_->describe(name).value()->ended())
      account().advance_to(clock.now_s() + 1.0);
    pools().add_ended(key(), name, 3600.0);
  }

  void look_for(double seconds) {
    const double until_s = clock.now_s() + seconds;
    while (clock.now_s() < until_s && !pools().empty()) {
      const auto polled = pools().poll();
      ASSERT_TRUE(polled) << polled.error().text();
      account().advance_to(
          std::max(clock.now_s() + 0.01, std::min(until_s, pools().next_poll_s())));
    }
  }

  TrialJob job_on(const std::string& pool_job, const std::string& name) {
    const TrialSpec spec = trial(2);
    TrialJob job(spec, key(), 3600.0, JobOutput::create(spec).value());
    JobLaunch launch;
    launch.job = name;
    launch.pool_job = pool_job;
    launch.pool_settled = false;
    job.request(launch, clock.now_s());
    return job;
  }

  [[nodiscard]] PoolKey key(const std::string& type = "ml.g5.xlarge") const {
    return *pool_key(options.settings, trial(1, type).resources);
  }

  Notices sink_;
  Outage outage_{clock, sink_, 900.0};

 private:
  std::optional<TrainingJobs> api_;
  std::optional<WarmPools> pools_;
};

TEST_F(WarmPoolsTest, APoolIsAvailableSomeSecondsAfterItsJob) {
  run_job("first");
  ASSERT_EQ(pools().pools().size(), 1U);
  EXPECT_FALSE(pools().pools()[0].available);
  look_for(10.0);
  ASSERT_EQ(pools().pools().size(), 1U);
  EXPECT_TRUE(pools().pools()[0].available);
  EXPECT_LT(pools().expected_start_s(key()), pools().expected_start_s(key("ml.m5.xlarge")));
}

/// As if the service ignored the keep-alive period.
TEST_F(WarmPoolsTest, APoolThatTheServiceNeverReportsIsGivenUpSoon) {
  run_job("first", /*keep_alive_s=*/0);
  EXPECT_EQ(pools().pools().size(), 1U);
  look_for(12.0);
  EXPECT_TRUE(pools().empty());
}

TEST_F(WarmPoolsTest, AJobsPoolIsKnownOnce) {
  run_job("first");
  pools().add_ended(key(), "first", 3600.0);
  EXPECT_EQ(pools().pools().size(), 1U);
}

TEST_F(WarmPoolsTest, AReleasedPoolCostsItsWait) {
  run_job("first");
  look_for(20.0);
  EXPECT_THAT(pools().take_unused(), IsEmpty()) << "a trial may still use it";
  EXPECT_EQ(pools().release("first"), true);
  EXPECT_TRUE(pools().empty());
  EXPECT_EQ(available_pools(), 0);
  const double retained_s = account().audit().pool_of("first")->retained_s;
  const std::vector<UnusedTime> unused = pools().take_unused();
  ASSERT_EQ(unused.size(), 1U);
  EXPECT_EQ(unused[0].machine, "first") << "as its trial's placement names it";
  EXPECT_NEAR(unused[0].usd, retained_s, 1.0) << "the service reports whole seconds";
  EXPECT_DOUBLE_EQ(unused[0].to_wall_s, clock.wall_time_s()) << "given back now";
  EXPECT_NEAR(unused[0].to_wall_s - unused[0].from_wall_s, retained_s, 1.0);
  EXPECT_THAT(pools().take_unused(), IsEmpty());
  EXPECT_EQ(pools().release("first"), true) << "nothing is left to do";
}

TEST_F(WarmPoolsTest, AReleaseThatFailsForNowIsNoErrorAndIsDoneLater) {
  Fault fault{FaultKind::no_connection, "UpdateTrainingJob", 1};
  fault.times = 12;
  account_options.faults = {fault};
  run_job("first");
  look_for(10.0);
  EXPECT_EQ(pools().release("first"), false);
  EXPECT_THAT(texts_of(sink_.take()), ElementsAre(HasSubstr("retrying")));
  EXPECT_EQ(pools().pools().size(), 1U);
  EXPECT_EQ(pools().release("first"), true);
  EXPECT_TRUE(pools().empty());
}

TEST_F(WarmPoolsTest, SurplusPoolsAreIdleOrUnwanted) {
  run_job("first");
  look_for(10.0);
  ASSERT_TRUE(pools().release_surplus(/*wanted=*/true));
  EXPECT_EQ(pools().pools().size(), 1U);
  look_for(options.idle_pool_s + 5.0);
  ASSERT_TRUE(pools().release_surplus(/*wanted=*/true));
  EXPECT_TRUE(pools().empty()) << "idle for too long";
  run_job("second");
  look_for(10.0);
  ASSERT_TRUE(pools().release_surplus(/*wanted=*/false));
  EXPECT_TRUE(pools().empty()) << "no trial will come";
}

TEST_F(WarmPoolsTest, PoolsAreKeptTheShorterTheSoonerTheyWereTaken) {
  EXPECT_EQ(pools().keep_alive_s(key(), /*wanted=*/false), 0);
  EXPECT_EQ(pools().keep_alive_s(std::nullopt, /*wanted=*/true), 0)
      << "spot jobs and clusters use no pools";
  const int at_first_s = pools().keep_alive_s(key(), /*wanted=*/true);
  EXPECT_EQ(at_first_s, options.keep_alive_s);
  run_job("first");
  look_for(5.0);
  pools().take("first", "second");
  EXPECT_TRUE(pools().empty());
  EXPECT_LT(pools().keep_alive_s(key(), /*wanted=*/true), at_first_s);
}

TEST_F(WarmPoolsTest, TheWaitOfAnEarlierTunersPoolCounts) {
  const int at_first_s = pools().keep_alive_s(key(), /*wanted=*/true);
  pools().add_available(key(), "first", 3600.0, /*idle_before_s=*/120.0);
  ASSERT_TRUE(pools().release_surplus(/*wanted=*/true));
  EXPECT_EQ(pools().pools().size(), 1U) << "the tuner has just found it";
  pools().take("first", "second");
  EXPECT_EQ(pools().keep_alive_s(key(), /*wanted=*/true), at_first_s);
}

TEST_F(WarmPoolsTest, TheEndOfAnEarlierTunersPoolIsNoticed) {
  run_job("first");
  pools().clear();
  account().advance_to(clock.now_s() + 290.0);
  ASSERT_EQ(available_pools(), 1);
  pools().add_available(key(), "first", 3600.0, /*idle_before_s=*/288.0);
  look_for(20.0);
  EXPECT_TRUE(pools().empty()) << "its keep-alive period has ended";
  EXPECT_NEAR(total_usd(pools().take_unused()), 300.0, 1.0);
}

TEST_F(WarmPoolsTest, AMissingQuotaEndsRequestsForPools) {
  account_options.warm_pool_quota = {};
  run_job("first");
  look_for(10.0);
  EXPECT_TRUE(pools().empty());
  EXPECT_EQ(pools().keep_alive_s(key(), /*wanted=*/true), 0);
  EXPECT_GT(pools().keep_alive_s(key("ml.m5.xlarge"), /*wanted=*/true), 0);
  EXPECT_THAT(texts_of(sink_.take()),
              ElementsAre(HasSubstr("ml.g5.xlarge for training warm pool usage")));
}

TEST_F(WarmPoolsTest, AReusedPoolIsPaidByItsTrial) {
  run_job("first");
  look_for(10.0);
  request_job("second");
  pools().take("first", "second");
  TrialJob job = job_on("first", "second");
  account().advance_to(clock.now_s() + 10.0);
  ASSERT_TRUE(pools().settle(job));
  EXPECT_TRUE(job.launch().pool_settled);
  EXPECT_EQ(job.launch().pool_job, "first");
  EXPECT_THAT(pools().take_unused(), IsEmpty());
  EXPECT_THAT(texts_of(sink_.take()), IsEmpty());
}

TEST_F(WarmPoolsTest, APoolThatEndedTooSoonIsOverheadAndNoticed) {
  run_job("first");
  look_for(10.0);
  pools().take("first", "second");
  account().advance_to(clock.now_s() + 600.0);
  TrialJob job = job_on("first", "second");
  ASSERT_TRUE(pools().settle(job));
  EXPECT_EQ(job.launch().pool_job, std::nullopt);
  EXPECT_NEAR(total_usd(pools().take_unused()), 300.0, 1.0) << "its keep-alive period";
  const auto taken = sink_.take();
  EXPECT_THAT(texts_of(taken), ElementsAre(HasSubstr("trial 2 started cold")));
  EXPECT_EQ(taken[0].trial, 2);
}

}  // namespace
}  // namespace steptune::simulated
