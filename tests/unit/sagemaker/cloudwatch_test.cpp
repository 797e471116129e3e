// SPDX-License-Identifier: Apache-2.0
// Tests requests for metrics, and how the answers are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trial_runner/sagemaker/instance_metrics.hpp"
#include "trial_runner/sagemaker/utilisation_watch.hpp"

namespace steptune {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// A CloudWatch that gives the same answer to every request.
class FixedAnswer final : public aws::HttpTransport {
 public:
  Result<aws::HttpResponse> send(const aws::HttpRequest& request,
                                 const aws::HttpTimeouts& /*timeouts*/) override {
    requests.push_back(Json::parse(request.body));
    return aws::HttpResponse{status, {}, body.dump()};
  }

  int status = 200;
  Json body = Json::object();
  std::vector<Json> requests;
};

class CloudWatchTest : public testing::Test {
 protected:
  CloudWatchTest() { types_.instances["ml.g5.12xlarge"] = {7.09, 48, 192.0, 4}; }

  static EndedJob ended(const std::string& name, int machines = 1) {
    EndedJob job;
    job.job = name;
    job.resources = {"ml.g5.12xlarge", machines, {}};
    job.training_since_wall_s = 1'795'000'030.0;
    job.training_until_wall_s = 1'795'000'330.0;
    return job;
  }

  /// Returns points for the whole minutes 60 to 300 s after 1 795 000 000, and for the minutes
  /// around them.
  static Json result(const std::string& id, const std::vector<double>& values) {
    Json times = Json::array();
    for (std::size_t i = 0; i < values.size(); ++i)
      times.push_back(1'795'000'000.0 + 60.0 * static_cast<double>(i));
    return {{"Id", id}, {"Timestamps", times}, {"Values", values}};
  }

  FixedAnswer transport_;
  VirtualClock clock_{1'795'001'000.0};
  aws::RateLimiter limiter_ = aws::sagemaker_rate_limiter();
  Rng rng_{1, "cloudwatch"};
  aws::JsonClient client_{{transport_, clock_, limiter_, rng_,
                           [](bool) -> Result<aws::Credentials> {
                             return aws::Credentials{"AKID", Secret("s"), Secret(""), {}, "test"};
                           },
                           [this](double time_s) { clock_.advance_to(time_s); }, "us-east-1"}};
  aws::JsonService service_{"monitoring", "GraniteServiceVersion20100801",
                            "application/x-amz-json-1.0", "https", "monitoring.test"};
  PriceTable types_;
};

TEST_F(CloudWatchTest, SumsBecomeSharesPerMinute) {
  transport_.body["MetricDataResults"] =
      Json::array({result("h0m0", {4800.0, 2400.0, 2400.0, 960.0, 2400.0, 4800.0}),
                   result("h0m1", {0.0, 400.0, 200.0, 200.0, 200.0, 0.0}),
                   result("h0m2", {0.0, 100.0, 100.0, 360.0, 100.0, 0.0}),
                   result("h0m3", {0.0, 20.0, 93.0, 20.0, 20.0, 99.0}), result("h9m9", {1.0})});
  const auto read = read_utilisation(client_, service_, {ended("job")}, types_);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1U);
  const MachineUtilisation& machine = read->front().machines.front();
  EXPECT_DOUBLE_EQ(*machine.cpu, 0.5);
  EXPECT_DOUBLE_EQ(*machine.cpu_most, 0.5)
      << "minutes that began before the training or ended after";
  EXPECT_DOUBLE_EQ(*machine.gpu, 0.5);
  EXPECT_DOUBLE_EQ(*machine.gpu_most, 1.0);
  EXPECT_DOUBLE_EQ(*machine.gpu_memory_most, 0.9);
  EXPECT_DOUBLE_EQ(*machine.memory_most, 0.93);
  EXPECT_FALSE(machine.disk_most);
}

TEST_F(CloudWatchTest, OneRequestAsksForAllMachinesOfSeveralJobs) {
  ASSERT_TRUE(read_utilisation(client_, service_, {ended("a", 2), ended("b")}, types_));
  ASSERT_EQ(transport_.requests.size(), 1U);
  const Json& queries = transport_.requests[0]["MetricDataQueries"];
  EXPECT_EQ(queries.size(), 15U);
  EXPECT_EQ(queries[5]["MetricStat"]["Metric"]["Dimensions"][0]["Value"], "a/algo-2");
  EXPECT_EQ(queries[10]["MetricStat"]["Metric"]["Dimensions"][0]["Value"], "b/algo-1");
  // Metrics that do not fit into one request are left out.
  const auto many = read_utilisation(client_, service_, {ended("a", 60), ended("b", 60)}, types_);
  ASSERT_TRUE(many);
  EXPECT_EQ(many->size(), 1U);
}

TEST_F(CloudWatchTest, MalformedMetricsAreIgnored) {
  const Json good = result("h0m1", {0.0, 200.0, 200.0, 200.0, 200.0, 0.0});
  for (const Json& bad :
       {Json("text"), Json(nullptr), Json::object(), Json{{"Id", "h0m0"}},
        Json{{"Id", "h0m0"}, {"Timestamps", "now"}, {"Values", "many"}},
        Json{{"Id", "h0m0"}, {"Timestamps", {{"a", 1}}}, {"Values", {1.0}}},
        Json{{"Id", "h0m0"}, {"Timestamps", {1'795'000'060.0}}, {"Values", {{"a", 1}}}},
        Json{{"Id", "h0m0"}, {"Timestamps", {1'795'000'060.0}}, {"Values", {"much"}}},
        Json{{"Id", "h0m0"}, {"Timestamps", {"noon"}}, {"Values", {1.0}}},
        Json{{"Id", "h0m0"}, {"Timestamps", Json::array()}, {"Values", {1.0}}},
        Json{{"Id", 17}, {"Timestamps", {1'795'000'060.0}}, {"Values", {1.0}}}}) {
    transport_.body["MetricDataResults"] = Json::array({bad, good});
    const auto read = read_utilisation(client_, service_, {ended("job")}, types_);
    ASSERT_TRUE(read) << bad;
    EXPECT_FALSE(read->front().machines.front().cpu) << bad;
    EXPECT_EQ(read->front().machines.front().gpu, 0.5) << bad;
  }
  transport_.body["MetricDataResults"] = "none";
  ASSERT_TRUE(read_utilisation(client_, service_, {ended("job")}, types_));
}

TEST_F(CloudWatchTest, RequestedTimesAreWholeMinutesAroundAllJobs) {
  EndedJob early = ended("early");
  early.training_since_wall_s -= 1000.0;
  EndedJob late = ended("late");
  late.training_until_wall_s += 1000.0;
  ASSERT_TRUE(read_utilisation(client_, service_, {late, early}, types_));
  const Json& request = transport_.requests.at(0);
  EXPECT_EQ(request["StartTime"].get<double>(), 1'794'999'000.0);
  EXPECT_EQ(request["EndTime"].get<double>(), 1'795'001'340.0);
  const Json& period = request["MetricDataQueries"][0]["MetricStat"]["Period"];
  EXPECT_EQ(period.dump(), "60") << "an integer, not 60.0";
}

TEST_F(CloudWatchTest, AnUnknownTypeHasSharesOnly) {
  transport_.body["MetricDataResults"] =
      Json::array({result("h0m0", {0.0, 100.0, 100.0}), result("h0m1", {0.0, 50.0, 50.0}),
                   result("h0m3", {0.0, 40.0, 40.0}), result("h0m4", {0.0, 130.0, 30.0})});
  const auto read = read_utilisation(client_, service_, {ended("job")}, {});
  ASSERT_TRUE(read);
  const MachineUtilisation& machine = read->front().machines.front();
  EXPECT_FALSE(machine.cpu);
  EXPECT_FALSE(machine.gpu_most);
  EXPECT_EQ(machine.memory_most, 0.4);
  EXPECT_EQ(machine.disk_most, 1.0) << "never more than all";
}

TEST_F(CloudWatchTest, WithoutJobsNothingIsRequested) {
  const auto read = read_utilisation(client_, service_, {}, types_);
  ASSERT_TRUE(read);
  EXPECT_THAT(*read, IsEmpty());
  EXPECT_TRUE(transport_.requests.empty());
}

TEST_F(CloudWatchTest, AMissingPermissionIsReportedOnce) {
  transport_.status = 403;
  transport_.body = {{"__type", "AccessDeniedException"}, {"message", "not authorized"}};
  UtilisationWatch watch(client_, service_, types_);
  watch.add(ended("a"), 0.0);
  watch.add(ended("b"), 1000.0);
  EXPECT_THAT(watch.poll(299.0), IsEmpty());
  EXPECT_TRUE(transport_.requests.empty());
  EXPECT_THAT(watch.poll(301.0), Contains(HasSubstr("cloudwatch:GetMetricData")));
  watch.add(ended("c"), 1000.0);
  EXPECT_THAT(watch.poll(2000.0, true), IsEmpty());
  EXPECT_EQ(transport_.requests.size(), 1U);
}

}  // namespace
}  // namespace steptune
