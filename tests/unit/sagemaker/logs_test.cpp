// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sagemaker/account_fixture.hpp"
#include "trial_runner/reports/steptune_line.hpp"

namespace steptune::simulated {
namespace {

constexpr const char* k_group = "/aws/sagemaker/TrainingJobs";

class Logs : public AccountTest {
 protected:
  struct Reading {
    std::vector<std::string> messages;
    std::set<std::string> ids;
    int pages = 0;
    int empty_pages = 0;
  };

  Reading read(const std::string& prefix, const Json& more = Json::object()) {
    Reading reading;
    Json input = {{"logGroupName", k_group}, {"logStreamNamePrefix", prefix}};
    input.update(more);
    for (;;) {
      const auto page = call("FilterLogEvents", input);
      EXPECT_TRUE(page) << page.error().to_error().text();
      if (!page) return reading;
      ++reading.pages;
      if ((*page)["events"].empty()) ++reading.empty_pages;
      for (const Json& event : (*page)["events"]) {
        reading.messages.push_back(event["message"]);
        EXPECT_TRUE(reading.ids.insert(event["eventId"]).second) << "an event came twice";
      }
      if (!page->contains("nextToken")) return reading;
      input["nextToken"] = (*page)["nextToken"];
    }
  }

  /// Runs a job until `seconds` after the container's start.
  void run_for(const std::string& job, double seconds) {
    create(job);
    account().advance_to(account().audit().job(job)->created_s + 183.0 + seconds);
  }
};

TEST_F(Logs, TheGroupAppearsWithTheFirstLine) {
  run_for("job", 4.0);
  const auto none = call("FilterLogEvents", {{"logGroupName", k_group}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "ResourceNotFoundException");
  pass(1.0);
  EXPECT_EQ(read("job/").messages, std::vector<std::string>{"training begins"});
}

TEST_F(Logs, ReportsComeLateAndCountSteps) {
  program.startup_s = 10.0;
  program.step_s = 0.25;
  program.noise = {0.0, 0.0, 0.0, 0.0, 0.0};
  program.samples_per_step = 32.0;
  program.metrics = {{"loss", 0.5}};
  run_for("job", 17.95);
  const auto messages = read("job/").messages;
  ASSERT_EQ(messages.size(), 4U) << "13.03 s of output: a greeting and three reports";
  const auto begin = find_steptune_document(messages.back());
  ASSERT_NE(begin, std::string::npos) << messages.back();
  const auto report = parse_steptune_document(std::string_view(messages.back()).substr(begin));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->step, 12.0);
  EXPECT_EQ(report->samples, 384.0);
  EXPECT_EQ(report->clock_s, 13.0);
  EXPECT_EQ(report->metrics.at("loss"), 0.5);
}

TEST_F(Logs, SlowStepsAreReportedOneByOne) {
  program.step_s = 4.0;
  program.noise = {0.0, 0.0, 0.0, 0.0, 0.0};
  run_for("job", 100.0);
  EXPECT_EQ(read("job/").messages.size(), 1U + 13U) << "60 s, 5 of them for the start-up";
}

TEST_F(Logs, EmptyPagesAreNotTheEnd) {
  options.logs.page_size = 10;
  run_for("job", 70.0);
  const Reading reading = read("job/");
  EXPECT_GT(reading.messages.size(), 40U);
  EXPECT_GT(reading.empty_pages, 0);
  EXPECT_GT(reading.pages, 5);
}

TEST_F(Logs, APrefixWithASlashReadsOneJobAndTimesBoundIt) {
  run_for("job-1", 70.0);
  create("job-10");
  pass(400.0);
  const Reading one = read("job-1/");
  EXPECT_EQ(read("job-1").messages.size(), 2 * one.messages.size());
  const double start_s = account().audit().job("job-1")->created_s + 183.0;
  const auto later_ms =
      static_cast<std::int64_t>((clock_.wall_time_s() - clock_.now_s() + start_s + 30.0) * 1000.0);
  const Reading later = read("job-1/", {{"startTime", later_ms}});
  EXPECT_LT(later.messages.size(), one.messages.size());
  EXPECT_GT(later.messages.size(), 20U);
}

TEST_F(Logs, LinesThatComeOutOfOrderAreAllFoundInTheEnd) {
  options.logs.jitter_s = 8.0;
  options.logs.page_size = 7;
  run_for("job", 30.0);
  bool with_gaps = false;
  std::set<std::string> found;
  for (int i = 0; i < 60; ++i) {
    const auto now = read("job/").ids;
    EXPECT_TRUE(std::includes(now.begin(), now.end(), found.begin(), found.end()));
    found = now;
    // Identifiers end with the line's number.
    with_gaps = with_gaps || std::stoul(now.rbegin()->substr(36)) + 1 != now.size();
    pass(1.0);
  }
  EXPECT_TRUE(with_gaps);
  EXPECT_EQ(std::stoul(found.rbegin()->substr(36)) + 1, found.size());
}

TEST_F(Logs, OutputEndsWithTheJobWhateverTimePasses) {
  program.ends_after_s.reset();
  run_for("job", 100.0);
  ASSERT_TRUE(call("StopTrainingJob", {{"TrainingJobName", "job"}}));
  pass(20.0);
  const auto soon = read("job/").messages.size();
  pass(1e6);
  EXPECT_EQ(read("job/").messages.size(), soon);
}

TEST_F(Logs, AFailureIsTheLastLine) {
  program.exit_code = 1;
  program.failure = "CUDA out of memory";
  run_for("job", 100.0);
  EXPECT_EQ(read("job/").messages.back(), "CUDA out of memory");
}

TEST_F(Logs, EveryMachineHasAStreamAndOneReports) {
  Json cluster = resources(0);
  cluster["InstanceCount"] = 2;
  create("job", {{"ResourceConfig", cluster}});
  pass(500.0);
  EXPECT_GT(read("job/algo-1").messages.size(), 40U);
  EXPECT_EQ(read("job/algo-2").messages.size(), 1U);
}

TEST_F(Logs, UtilisationIsSummedOverCoresAndComesLate) {
  options.instances = {{"ml.m5.large", {0.115, 2, 8.0, 1}}};
  program.ends_after_s = 600.0;
  program.cpu_share = 0.75;
  program.gpu_share = 0.5;
  run_for("job", 300.0);
  const auto metric = [](const char* id, const char* name) {
    return Json{{"Id", id},
                {"MetricStat",
                 {{"Metric",
                   {{"Namespace", "/aws/sagemaker/TrainingJobs"},
                    {"MetricName", name},
                    {"Dimensions", Json::array({{{"Name", "Host"}, {"Value", "job/algo-1"}}})}}},
                  {"Period", 60},
                  {"Stat", "Average"}}}};
  };
  const auto data = call(
      {"monitoring", "GraniteServiceVersion20100801", "application/x-amz-json-1.0", "https",
       "monitoring.us-east-1.amazonaws.com"},
      "GetMetricData",
      {{"MetricDataQueries", {metric("cpu", "CPUUtilization"), metric("gpu", "GPUUtilization")}},
       {"StartTime", clock_.wall_time_s() - 3600.0},
       {"EndTime", clock_.wall_time_s()}});
  ASSERT_TRUE(data) << data.error().to_error().text();
  const Json& cpu = (*data)["MetricDataResults"][0];
  EXPECT_THAT(cpu["Values"].size(), testing::AllOf(testing::Ge(3U), testing::Le(5U)));
  EXPECT_EQ(cpu["Values"][0], 150.0);
  EXPECT_EQ((*data)["MetricDataResults"][1]["Values"][0], 50.0);
  EXPECT_LE(cpu["Timestamps"].back().get<double>(), clock_.wall_time_s() - 120.0);
}

}  // namespace
}  // namespace steptune::simulated
