// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/scaling.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace steptune {
namespace {

constexpr double k_known = std::numeric_limits<double>::infinity();
constexpr std::array k_six_counts = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0};

std::vector<ScalingPoint> points_on(const ScalingCurve& curve, std::size_t counts,
                                    double relative_error, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> noise(0.0, relative_error);
  std::vector<ScalingPoint> points;
  for (std::size_t i = 0; i < counts; ++i) {
    const double count = k_six_counts.at(i);
    points.push_back({count, curve.time_s(count) * std::exp(noise(engine)), relative_error});
  }
  return points;
}

const ScalingFit& fit_of(const std::vector<ScalingFit>& fits, ScalingLaw law) {
  for (const ScalingFit& fit : fits) {
    if (fit.best.law == law) return fit;
  }
  throw std::logic_error("the law was not fitted");
}

bool covers(const Estimate& estimate, double truth) {
  return estimate.low <= truth && truth <= estimate.high;
}

class EveryLaw : public testing::TestWithParam<ScalingLaw> {};

TEST_P(EveryLaw, ParametersAreRecoveredFromExactTimes) {
  const ScalingCurve truth{GetParam(), 1000.0, 0.05, communicates(GetParam()) ? 0.02 : 0.0};
  const auto fits = fit_scaling_laws(points_on(truth, 6, 1e-9, 1), k_known);
  const ScalingFit& fit = fit_of(fits, GetParam());
  EXPECT_NEAR(fit.best.one_s, truth.one_s, 0.01);
  EXPECT_NEAR(fit.best.serial, truth.serial, 1e-4);
  EXPECT_NEAR(fit.best.communication, truth.communication, 1e-4);
}

/// With 120 seeds, the standard error of a share of 95 % is 2 points. 89 % is three of them lower.
TEST_P(EveryLaw, IntervalsCoverTheTruthAtTheirRate) {
  constexpr int k_seeds = 120;
  const ScalingCurve truth{GetParam(), 1000.0, 0.05, communicates(GetParam()) ? 0.02 : 0.0};
  int serial = 0;
  int communication = 0;
  int between = 0;
  int beyond = 0;
  for (std::uint64_t seed = 0; seed < k_seeds; ++seed) {
    const auto fits = fit_scaling_laws(points_on(truth, 6, 0.02, seed), k_known);
    const ScalingFit& fit = fit_of(fits, GetParam());
    const auto held = [&](const std::function<double(const ScalingCurve&)>& quantity) {
      return covers(fit.estimate(quantity), quantity(truth)) ? 1 : 0;
    };
    serial += held([](const ScalingCurve& curve) { return curve.serial; });
    communication += held([](const ScalingCurve& curve) { return curve.communication; });
    between += held([](const ScalingCurve& curve) { return curve.time_s(6.0); });
    beyond += held([](const ScalingCurve& curve) { return curve.time_s(64.0); });
  }
  for (const int held : {serial, communication, between, beyond})
    EXPECT_GE(held, static_cast<int>(0.89 * k_seeds));
}

/// The law is unknown, and may be one that cannot be compared with so few counts.
TEST_P(EveryLaw, IntervalsOverPlausibleLawsCoverTheTruthWithFewCounts) {
  constexpr int k_seeds = 60;
  const ScalingCurve truth{GetParam(), 1000.0, 0.05, communicates(GetParam()) ? 0.02 : 0.0};
  for (const std::size_t counts : {2U, 3U, 4U, 5U, 6U}) {
    int between = 0;
    int beyond = 0;
    for (std::uint64_t seed = 0; seed < k_seeds; ++seed) {
      const auto points = points_on(truth, counts, 0.02, seed);
      const auto fits = fit_scaling_laws(points, 3.0);
      const auto held = [&](double count) {
        const auto time = [count](const ScalingCurve& curve) { return curve.time_s(count); };
        return covers(estimate_by_plausible_laws(fits, time), time(truth)) ? 1 : 0;
      };
      between += held(0.75 * points.back().count);
      beyond += held(2.0 * points.back().count);
    }
    EXPECT_GE(between, static_cast<int>(0.9 * k_seeds)) << counts;
    EXPECT_GE(beyond, static_cast<int>(0.9 * k_seeds)) << counts;
  }
}

INSTANTIATE_TEST_SUITE_P(ScalingLaw, EveryLaw,
                         testing::Values(ScalingLaw::amdahl, ScalingLaw::amdahl_linear,
                                         ScalingLaw::amdahl_log, ScalingLaw::gustafson,
                                         ScalingLaw::gustafson_log));

TEST(ScalingLaw, DistinguishesFixedFromGrowingWork) {
  const auto same =
      fit_scaling_laws(points_on({ScalingLaw::amdahl, 1000.0, 0.1, 0.0}, 6, 0.01, 2), k_known);
  EXPECT_FALSE(work_grows(same.front().best.law));
  const auto grows =
      fit_scaling_laws(points_on({ScalingLaw::gustafson, 1000.0, 0.2, 0.0}, 6, 0.01, 2), k_known);
  EXPECT_TRUE(work_grows(grows.front().best.law));
}

TEST(ScalingLaw, TwoCountsGiveTheSerialShareOfKarpAndFlatt) {
  // "Measuring parallel processor performance", CACM 33(5), 1990: (1 / S - 1 / n) / (1 - 1 / n).
  const std::vector<ScalingPoint> points{{1.0, 100.0, 0.01}, {4.0, 40.0, 0.01}};
  const auto fits = fit_scaling_laws(points, k_known);
  ASSERT_FALSE(fits.empty());
  for (const ScalingFit& fit : fits)
    EXPECT_FALSE(fit.aicc) << "two counts cannot compare laws";
  EXPECT_NEAR(fit_of(fits, ScalingLaw::amdahl).best.serial, (0.4 - 0.25) / 0.75, 1e-6);
}

TEST(ScalingLaw, ScatterBeyondTheErrorsWidensTheIntervals) {
  std::vector<ScalingPoint> points = points_on({ScalingLaw::amdahl, 1000.0, 0.05, 0.0}, 6, 1e-9, 1);
  const auto width = [&] {
    for (ScalingPoint& point : points)
      point.relative_error = 0.01;
    const auto fits = fit_scaling_laws(points, 3.0);
    const Estimate serial =
        fit_of(fits, ScalingLaw::amdahl).estimate([](const auto& curve) { return curve.serial; });
    return serial.high - serial.low;
  };
  const double calm = width();
  points[2].time_s *= 1.3;
  points[4].time_s *= 0.8;
  EXPECT_GT(width(), 2.0 * calm);
}

ScalingRun run_of(std::int64_t trial, double count, double time_s, std::int64_t batch = 1) {
  ScalingRun run;
  run.trial = trial;
  run.count = count;
  run.configuration.set("nodes", static_cast<std::int64_t>(count));
  run.configuration.set("batch", batch);
  run.time_s = time_s;
  run.standard_error_s = 0.01 * time_s;
  run.price_per_hour = 2.0 * count;
  return run;
}

ScalingQuestion question() {
  ScalingQuestion asked;
  asked.count_parameter = "nodes";
  asked.possible_counts = {1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 64.0};
  asked.price_per_hour = [](const Configuration&, double count) { return 2.0 * count; };
  return asked;
}

std::vector<ScalingRun> runs_on(const ScalingCurve& curve, const std::vector<double>& counts) {
  std::vector<ScalingRun> runs;
  for (const double count : counts)
    runs.push_back(run_of(std::ssize(runs) + 1, count, curve.time_s(count)));
  return runs;
}

TEST(Scaling, UsesAllRunsOfTheBestConfigurationPerCount) {
  std::vector<ScalingRun> runs{run_of(1, 1.0, 3600.0), run_of(2, 2.0, 2500.0),
                               run_of(3, 2.0, 2000.0, 8), run_of(4, 2.0, 2100.0, 8),
                               run_of(5, 2.0, 1500.0, 16)};
  runs[3].is_candidate = false;
  runs[4].completed = false;
  const Scaling scaling = scaling_of(runs, question());
  ASSERT_EQ(scaling.counts.size(), 2U);
  const ScalingCount& two = scaling.counts[1];
  EXPECT_EQ(two.trial, 3) << "a full measurement has priority over a trial that was stopped early";
  EXPECT_EQ(two.trials, 3U);
  EXPECT_NEAR(two.time_s.mean, std::sqrt(2000.0 * 2100.0), 1e-6);
  EXPECT_NEAR(two.relative_error, 0.01 / std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(two.cost.mean, two.time_s.mean / 3600.0 * 4.0, 1e-9);
  EXPECT_NEAR(two.efficiency->mean, two.speed_up.mean / 2.0, 1e-12);
  EXPECT_NEAR(two.marginal_gain->mean, two.speed_up.mean - 1.0, 1e-12);
}

TEST(Scaling, FindsTheKneeOfAKnownLaw) {
  const ScalingCurve law{ScalingLaw::amdahl, 36'000.0, 0.05, 0.0};
  const Scaling scaling = scaling_of(runs_on(law, {1, 2, 4, 8, 16}), question());
  // The fourth machine adds 75 % of the first machine's speed. Of the next possible count, 6, each
  // machine adds 66 %, less than the usual limit of 70 %.
  const double expected = 4.0;
  ASSERT_TRUE(scaling.knee);
  EXPECT_EQ(scaling.knee->count, expected);
  EXPECT_LE(scaling.knee->low, expected);
  EXPECT_GE(scaling.knee->high, expected);
  EXPECT_FALSE(scaling.knee->is_last);
}

TEST(Scaling, TheCheapestCountForADeadlineMayBeUnmeasured) {
  const ScalingCurve law{ScalingLaw::amdahl, 36'000.0, 0.05, 0.0};
  ScalingQuestion asked = question();
  const auto choice = [&](double deadline_s) {
    asked.deadline_s = deadline_s;
    return scaling_of(runs_on(law, {1, 2, 4, 8}), asked).cheapest;
  };
  EXPECT_EQ(choice(40'000.0)->count, 1.0);
  EXPECT_EQ(choice(1.1 * law.time_s(6.0))->count, 6.0) << "cheaper than the 8 that were measured";
  EXPECT_FALSE(choice(1.1 * law.time_s(6.0))->measured);
  EXPECT_TRUE(choice(1.001 * law.time_s(8.0)) && !choice(1.001 * law.time_s(8.0))->surely_in_time);
  EXPECT_FALSE(choice(0.5 * law.time_s(8.0)));
}

TEST(Scaling, PredictsUpToTwiceTheMeasuredCount) {
  const ScalingCurve law{ScalingLaw::amdahl, 36'000.0, 0.05, 0.0};
  const Scaling scaling = scaling_of(runs_on(law, {1, 2, 4, 8}), question());
  std::vector<double> counts;
  for (const ScalingPrediction& each : scaling.predictions) {
    counts.push_back(each.count);
    EXPECT_TRUE(covers(each.time_s, law.time_s(each.count)));
    EXPECT_EQ(each.beyond_measured, each.count > 8.0);
  }
  EXPECT_EQ(counts, (std::vector<double>{3.0, 6.0, 16.0}));
  // The cheapest count is not below the measured ones. Impossible counts have no prediction.
  ScalingQuestion asked = question();
  asked.deadline_s = 1e6;
  asked.price_per_hour = [](const Configuration&, double count) -> std::optional<double> {
    if (count == 6.0) return std::nullopt;
    return 2.0 * count;
  };
  const Scaling upper = scaling_of(runs_on(law, {3, 4, 8}), asked);
  for (const ScalingPrediction& each : upper.predictions)
    EXPECT_EQ(each.beyond_measured, each.count < 3.0 || each.count > 8.0) << each.count;
  EXPECT_EQ(upper.cheapest->count, 3.0) << "of those measured; 1 and 2 are beyond them";
  EXPECT_EQ(std::ranges::count(upper.predictions, 6.0, &ScalingPrediction::count), 0);
}

TEST(Scaling, AThousandCountsAreAllConsidered) {
  const ScalingCurve law{ScalingLaw::amdahl, 36'000.0, 0.001, 0.0};
  ScalingQuestion asked = question();
  asked.possible_counts.clear();
  for (int count = 1; count <= 1000; ++count)
    asked.possible_counts.push_back(count);
  asked.possible_counts.push_back(1e18);
  const Scaling scaling = scaling_of(runs_on(law, {1, 10, 1000}), asked);
  ASSERT_FALSE(scaling.predictions.empty());
  EXPECT_LE(scaling.predictions.size(), 64U);
  EXPECT_GT(scaling.predictions.back().count, 990.0);
}

TEST(Scaling, SaysWhyThereIsNoLaw) {
  EXPECT_EQ(scaling_of({}, question()).why_no_law, "no trial was measured");
  EXPECT_NE(scaling_of({run_of(1, 4.0, 100.0)}, question()).why_no_law.find("one count"),
            std::string::npos);
  const Scaling none = scaling_of({run_of(1, 0.0, 100.0), run_of(2, 1.0, 60.0)}, question());
  EXPECT_NE(none.why_no_law.find("less than 1"), std::string::npos);
  EXPECT_FALSE(none.counts[1].efficiency);
  EXPECT_FALSE(none.knee);
  ScalingQuestion mixed = question();
  mixed.equal_machines = false;
  EXPECT_NE(scaling_of({run_of(1, 1.0, 100.0), run_of(2, 2.0, 60.0)}, mixed)
                .why_no_law.find("several kinds"),
            std::string::npos);
}

TEST(Scaling, MoreMachinesThatSlowItDownHaveAKneeAtTheFirst) {
  const Scaling scaling =
      scaling_of({run_of(1, 1.0, 100.0), run_of(2, 2.0, 150.0), run_of(3, 4.0, 300.0)}, question());
  ASSERT_TRUE(scaling.knee);
  EXPECT_EQ(scaling.knee->count, 1.0);
  EXPECT_EQ(scaling.cheapest->count, 1.0);
  EXPECT_FALSE(scaling.law_family_is_decided);
}

TEST(Scaling, FasterThanLinearScalingGivesNoNegativeSerialShare) {
  const Scaling scaling = scaling_of(
      {run_of(1, 1.0, 1000.0), run_of(2, 2.0, 400.0), run_of(3, 4.0, 150.0), run_of(4, 8.0, 60.0)},
      question());
  EXPECT_NEAR(scaling.fits.front().best.serial, 0.0, 1e-9);
  EXPECT_GT(scaling.scatter, 2.0) << "no law fits, and the scatter shows it";
  EXPECT_TRUE(scaling.knee->is_last);
}

}  // namespace
}  // namespace steptune
