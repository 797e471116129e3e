// SPDX-License-Identifier: Apache-2.0
// Tests the reported utilisation of trials' machines, from the simulated account to the runner's
// notices.
#include "tests/unit/sagemaker/runner_fixture.hpp"

namespace steptune::simulated {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class UtilisationTest : public RunnerOnAccountTest {
 protected:
  UtilisationTest() {
    options.prices.instances["ml.g5.xlarge"] = {1.408, 4, 16.0, 1};
    account_options.instances = options.prices.instances;
    program.ends_after_s = 600.0;
    program.cpu_share = 0.95;
    program.gpu_share = 0.4;
  }

  bool asked_for_metrics() { return account().audit().most_per_second.contains("GetMetricData"); }
};

TEST_F(UtilisationTest, IsReportedOnceWhenMetricsArrive) {
  options.parallel = options.backlog = 2;
  start(trial(1));
  start(trial(2));
  run_until_finished(2);
  EXPECT_THAT(notices, IsEmpty()) << "too early";
  run_for(320.0);
  ASSERT_THAT(notices, Contains(AllOf(HasSubstr("1 ml.g5.xlarge: the CPUs are saturated (95 %)"),
                                      HasSubstr("the GPUs underused (40 %)"))));
  start(trial(3));
  run_until_finished(3);
  release();
  EXPECT_EQ(
      std::ranges::count_if(
          notices, [](const std::string& each) { return each.find("saturated") != each.npos; }),
      1);
}

TEST_F(UtilisationTest, IsReadOnceMoreAtTheEnd) {
  start(trial(1));
  run_until_finished(1);
  // Longer than the metrics take to arrive, and within the runner's waiting time.
  run_for(130.0);
  EXPECT_THAT(notices, Not(Contains(HasSubstr("saturated"))));
  const double before_s = clock.now_s();
  release();
  EXPECT_THAT(notices, Contains(HasSubstr("saturated")));
  EXPECT_LT(clock.now_s() - before_s, 10.0);
}

TEST_F(UtilisationTest, ShortTrialsAreNotQueried) {
  program.ends_after_s = 60.0;
  // A download of the image would count as "training" and make the trial longer.
  account_options.stages.image_download_s = 0.0;
  start(trial(1));
  run_until_finished(1);
  run_for(400.0);
  release();
  EXPECT_FALSE(asked_for_metrics());
}

TEST_F(UtilisationTest, MetricsThatCannotBeReadDoNotFailTheStudy) {
  Fault fault;
  fault.kind = FaultKind::internal_error;
  fault.operation = "GetMetricData";
  fault.times = 100;
  account_options.faults.push_back(fault);
  start(trial(1));
  run_until_finished(1);
  run_for(400.0);
  release();
  EXPECT_TRUE(asked_for_metrics());
  EXPECT_THAT(notices, IsEmpty());
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::completed);
  EXPECT_EQ(available_pools(), 0);
}

TEST_F(UtilisationTest, LongDownloadsAreReportedWithoutMetrics) {
  program.ends_after_s = 60.0;
  options.settings.input_mode = "File";
  options.settings.channels = {{.name = "train", .s3_uri = "s3://bucket/train/"}};
  account_options.stages.download_s["File"] = 200.0;
  start(trial(1));
  run_until_finished(1);
  release();
  EXPECT_THAT(notices, Contains(AllOf(HasSubstr("the download"), HasSubstr("FastFile"))));
}

}  // namespace
}  // namespace steptune::simulated
