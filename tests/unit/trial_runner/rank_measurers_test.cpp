// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/rank_measurers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// What a rank tells of steps of `step_s`, of which `data_s` go to data; each step has two samples
/// for all ranks together.
struct TellingRank {
  int rank = 0;
  double step_s = 0.1;
  double data_s = 0.0;
  double clock_origin_s = 0.0;
};

/// The reports of so many seconds, as they come in.
Measurement measured(const std::vector<TellingRank>& ranks, double seconds, bool say_who = true) {
  RankMeasurers measurers({.started_s = 0.0, .samples_per_step = {}, .buffered_steps = {}});
  std::vector<std::pair<double, Report>> reports;
  for (const TellingRank& each : ranks) {
    for (int step = 1; step * each.step_s < seconds; ++step) {
      Report report;
      report.received_s = 1.0 + step * each.step_s + 0.001 * each.rank;
      report.clock_s = each.clock_origin_s + step * each.step_s;
      report.step = step;
      report.samples = 2 * step;
      report.metrics["loss"] = 10.0 + each.rank;
      if (each.data_s > 0.0) report.parts["data"] = step * each.data_s;
      if (say_who) report.global_rank = each.rank;
      reports.emplace_back(report.received_s, report);
    }
  }
  std::ranges::stable_sort(reports, {}, [](const auto& report) { return report.first; });
  for (const auto& [at_s, report] : reports)
    measurers.add(report);
  return measurers.current();
}

/// Steps of `ranks` processes that become slower all the time until the program ends.
Measurement slowing_whole_run(int ranks, int steps) {
  RankMeasurers measurers({.started_s = 0.0, .samples_per_step = {}, .buffered_steps = {}});
  double now_s = 1.0;
  for (int step = 1; step <= steps; ++step) {
    now_s += 0.1 + 0.01 * step;
    for (int rank = 0; rank < ranks; ++rank) {
      Report report;
      report.received_s = now_s;
      report.step = step;
      report.samples = 2 * step;
      report.metrics["loss"] = 10.0 + rank;
      report.global_rank = rank;
      measurers.add(report);
    }
  }
  return measurers.whole_run(now_s);
}

TEST(RankMeasurers, AWholeRunOfSeveralRanksIsThatOfOne) {
  const Measurement one = slowing_whole_run(1, 60);
  const Measurement two = slowing_whole_run(2, 60);
  EXPECT_NE(two.status, MeasurementStatus::steady);
  EXPECT_TRUE(two.whole_run);
  EXPECT_DOUBLE_EQ(two.seconds_per_sample, one.seconds_per_sample);
  EXPECT_DOUBLE_EQ(two.half_width_s, one.half_width_s);
  EXPECT_EQ(two.metrics.at("loss"), 10.0);
  EXPECT_FALSE(slowing_whole_run(2, 4).whole_run);
}

TEST(RankMeasurers, TakesEqualRanksForTheFirstOne) {
  const Measurement m = measured({{0, 0.1, 0.01, 5.0}, {1, 0.1, 0.011, 9e6}}, 30.0);
  EXPECT_EQ(m.status, MeasurementStatus::steady);
  EXPECT_NEAR(m.seconds_per_sample, 0.05, 1e-6);
  EXPECT_NEAR(m.total_samples, 598.0, 2.1);
  EXPECT_EQ(m.metrics.at("loss"), 10.0);
  EXPECT_THAT(m.remark, IsEmpty());
}

TEST(RankMeasurers, TheSlowestRanksStepIsTheTrialsAndItIsNamed) {
  const Measurement m = measured({{0, 0.1}, {1, 0.15}, {2, 0.1}}, 60.0);
  EXPECT_NEAR(m.seconds_per_sample, 0.075, 1e-6);
  EXPECT_EQ(m.metrics.at("loss"), 10.0);
  EXPECT_THAT(m.remark, HasSubstr("straggler: rank 1 is 50 % slower than rank 0"));
}

TEST(RankMeasurers, NamesTheRankWhoseDataIsLateThoughAllStepAlike) {
  const Measurement m =
      measured({{0, 0.1, 0.004}, {1, 0.1, 0.005}, {2, 0.1, 0.034}, {3, 0.1, 0.004}}, 30.0);
  EXPECT_NEAR(m.seconds_per_sample, 0.05, 1e-6);
  EXPECT_THAT(
      m.remark,
      HasSubstr("straggler: rank 2 spends 30 % of each step longer on data than the others"));
}

TEST(RankMeasurers, TellsWhereMoreRanksReportThanAreMeasured) {
  std::vector<TellingRank> ranks;
  for (int rank = 0; rank < 64; ++rank)
    ranks.push_back({rank, 0.1});
  EXPECT_THAT(measured(ranks, 5.0).remark, Not(HasSubstr("ranks are measured")));
  ranks.push_back({64, 0.1});
  // Twice as slow: it is not looked at, which the remark owns up to.
  ranks.push_back({65, 0.2});
  const Measurement m = measured(ranks, 5.0);
  EXPECT_NEAR(m.total_samples, 98.0, 2.1);
  EXPECT_THAT(m.remark,
              HasSubstr("only the first 64 ranks to report are measured: what others tell, "
                        "up to rank 65, is left out"));
  EXPECT_THAT(m.remark, Not(HasSubstr("straggler")));
}

TEST(RankMeasurers, IsOneMeasurerWhereNobodySaysWhichItIs) {
  const Measurement m = measured({{0, 0.1}}, 30.0, false);
  EXPECT_NEAR(m.seconds_per_sample, 0.05, 1e-6);
  EXPECT_THAT(m.remark, IsEmpty());
  RankMeasurers none({});
  EXPECT_EQ(none.current().status, MeasurementStatus::no_reports);
}

}  // namespace
}  // namespace steptune
