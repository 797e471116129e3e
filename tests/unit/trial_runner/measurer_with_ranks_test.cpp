// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/numbers.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "trial_runner/measure/stragglers.hpp"

namespace steptune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A rank that reports steps of `step_s`, `data_s` of which is spent on data. Each step has two
/// samples over all ranks.
struct ReportingRank {
  int rank = 0;
  double step_s = 0.1;
  double data_s = 0.0;
  double clock_origin_s = 0.0;
};

/// Measures the ranks' reports of this many seconds, in order of arrival. If `with_rank`, each
/// report names its rank.
Measurement measured(const std::vector<ReportingRank>& ranks, double seconds,
                     bool with_rank = true) {
  Measurer measurers({.started_s = 0.0, .samples_per_step = {}, .buffered_steps = {}});
  std::vector<std::pair<double, Report>> reports;
  for (const ReportingRank& each : ranks) {
    for (int step = 1; step * each.step_s < seconds; ++step) {
      Report report;
      report.received_s = 1.0 + step * each.step_s + 0.001 * each.rank;
      report.clock_s = each.clock_origin_s + step * each.step_s;
      report.step = step;
      report.samples = 2 * step;
      report.metrics["loss"] = 10.0 + each.rank;
      if (each.data_s > 0.0) report.parts["data"] = step * each.data_s;
      if (with_rank) report.global_rank = each.rank;
      reports.emplace_back(report.received_s, report);
    }
  }
  std::ranges::stable_sort(reports, {}, [](const auto& report) { return report.first; });
  for (const auto& [at_s, report] : reports)
    measurers.add(report);
  return measurers.current();
}

/// Measures a whole run of `ranks` processes that slow down all the time.
Measurement slowing_whole_run(int ranks, int steps) {
  Measurer measurers({.started_s = 0.0, .samples_per_step = {}, .buffered_steps = {}});
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

TEST(MeasurerWithRanks, AWholeRunOfSeveralRanksEqualsThatOfOne) {
  const Measurement one = slowing_whole_run(1, 60);
  const Measurement two = slowing_whole_run(2, 60);
  EXPECT_NE(two.status, MeasurementStatus::steady);
  EXPECT_TRUE(two.whole_run);
  EXPECT_DOUBLE_EQ(two.seconds_per_sample, one.seconds_per_sample);
  EXPECT_DOUBLE_EQ(two.half_width_s, one.half_width_s);
  EXPECT_EQ(two.metrics.at("loss"), 10.0);
  EXPECT_FALSE(slowing_whole_run(2, 4).whole_run);
}

TEST(MeasurerWithRanks, EqualRanksAreMeasuredByTheFirstOne) {
  const Measurement m = measured({{0, 0.1, 0.01, 5.0}, {1, 0.1, 0.011, 9e6}}, 30.0);
  EXPECT_EQ(m.status, MeasurementStatus::steady);
  EXPECT_NEAR(m.seconds_per_sample, 0.05, 1e-6);
  EXPECT_NEAR(m.total_samples, 598.0, 2.1);
  EXPECT_EQ(m.metrics.at("loss"), 10.0);
  EXPECT_THAT(m.remark, IsEmpty());
}

TEST(MeasurerWithRanks, TheSlowestRankGivesTheStepTimeAndIsNamed) {
  const Measurement m = measured({{0, 0.1}, {1, 0.15}, {2, 0.1}}, 60.0);
  EXPECT_NEAR(m.seconds_per_sample, 0.075, 1e-6);
  EXPECT_EQ(m.metrics.at("loss"), 10.0);
  EXPECT_THAT(m.remark, HasSubstr("straggler: rank 1 is 50 % slower than rank 0"));
}

TEST(MeasurerWithRanks, NamesTheRankWithLateData) {
  const Measurement m =
      measured({{0, 0.1, 0.004}, {1, 0.1, 0.005}, {2, 0.1, 0.034}, {3, 0.1, 0.004}}, 30.0);
  EXPECT_NEAR(m.seconds_per_sample, 0.05, 1e-6);
  EXPECT_THAT(
      m.remark,
      HasSubstr("straggler: rank 2 spends 30 % of each step more on data than the other ranks"));
}

TEST(MeasurerWithRanks, ReportsMoreRanksThanAreMeasured) {
  std::vector<ReportingRank> ranks;
  for (int rank = 0; rank < 64; ++rank)
    ranks.push_back({rank, 0.1});
  EXPECT_THAT(measured(ranks, 5.0).remark, Not(HasSubstr("ranks are measured")));
  ranks.push_back({64, 0.1});
  // This rank is twice as slow but not measured, which the remark says.
  ranks.push_back({65, 0.2});
  const Measurement m = measured(ranks, 5.0);
  EXPECT_NEAR(m.total_samples, 98.0, 2.1);
  EXPECT_THAT(m.remark, HasSubstr("only the first 64 ranks that report are measured: reports of "
                                  "others, up to rank 65, are ignored"));
  EXPECT_THAT(m.remark, Not(HasSubstr("straggler")));
}

Measurement rank_at(double seconds_per_sample, double half_width_s,
                    MeasurementStatus status = MeasurementStatus::steady) {
  Measurement m;
  m.status = status;
  m.seconds_per_sample = m.step_seconds_per_sample = seconds_per_sample;
  m.half_width_s = half_width_s;
  return m;
}

TEST(Stragglers, AreSlowerBeyondBothIntervals) {
  const Measurement first = rank_at(0.100, 0.002);
  const Measurement alike = rank_at(0.103, 0.002);
  const Measurement slow = rank_at(0.105, 0.002);
  EXPECT_EQ(stragglers({{0, &first}, {1, &alike}}), "");
  EXPECT_EQ(stragglers({{0, &first}, {1, &slow}}), "straggler: rank 1 is 5 % slower than rank 0");
  EXPECT_EQ(stragglers({{0, &first}}), "");
}

TEST(Stragglers, ARankWithoutIntervalMustBeMuchSlower) {
  const Measurement first = rank_at(0.100, 0.001);
  const Measurement may_be = rank_at(0.106, k_infinity, MeasurementStatus::warming_up);
  const Measurement surely = rank_at(0.110, k_infinity, MeasurementStatus::warming_up);
  const Measurement silent = rank_at(std::nan(""), k_infinity, MeasurementStatus::no_reports);
  EXPECT_EQ(stragglers({{0, &first}, {1, &may_be}}), "");
  EXPECT_EQ(stragglers({{0, &first}, {1, &silent}}), "");
  EXPECT_EQ(stragglers({{0, &first}, {1, &surely}}),
            "straggler: rank 1 is 10 % slower than rank 0");
  EXPECT_EQ(stragglers({{0, &surely}, {1, &first}}), "") << "nothing to be slower than";
}

TEST(Stragglers, InDataAreComparedWithRanksThatReportIt) {
  Measurement first = rank_at(0.1, 0.001), second = first, slow = rank_at(0.2, 0.001);
  const Measurement without_data = first;
  first.parts["data"] = 0.010;
  slow.parts["data"] = 0.050;
  EXPECT_EQ(stragglers({{0, &first}, {1, &without_data}}), "")
      << "there is no other rank to compare it with";
  EXPECT_EQ(stragglers({{0, &first}, {1, &without_data}, {2, &slow}}),
            "straggler: rank 2 is 100 % slower than rank 0; rank 2 spends 20 % of each step more "
            "on data than the other ranks");
  second.parts["data"] = 0.014;
  EXPECT_EQ(stragglers({{0, &first}, {1, &second}}), "") << "4 % of a step";
}

TEST(MeasurerWithRanks, ARemarkOfTheRankStaysBesideThatOfStragglers) {
  Measurer measurers({});
  for (int step = 1; step <= 100; ++step) {
    for (const int rank : {0, 1}) {
      Report report;
      report.global_rank = rank;
      report.received_s = (rank == 0 ? 0.1 : 0.2) * step;
      report.clock_s = report.received_s + (step % 2 == 0 ? 50.0 : 0.0);
      report.step = step;
      measurers.add(report);
    }
  }
  EXPECT_THAT(measurers.current().remark,
              AllOf(HasSubstr("goes back"), HasSubstr("; straggler: rank 1 is 100 % slower")));
}

TEST(MeasurerWithRanks, MeasuresReportsWithoutRanks) {
  const Measurement m = measured({{0, 0.1}}, 30.0, false);
  EXPECT_NEAR(m.seconds_per_sample, 0.05, 1e-6);
  EXPECT_THAT(m.remark, IsEmpty());
  Measurer none({});
  EXPECT_EQ(none.current().status, MeasurementStatus::no_reports);
}

}  // namespace
}  // namespace steptune
