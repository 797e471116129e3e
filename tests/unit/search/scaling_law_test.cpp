// SPDX-License-Identifier: Apache-2.0
// Checks the laws of scaling against their formulas, and properties of any curve and fit, over
// fixed seeds.
#include "search/scaling/scaling_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

constexpr std::array k_every_law = {ScalingLaw::amdahl, ScalingLaw::amdahl_linear,
                                    ScalingLaw::amdahl_log, ScalingLaw::gustafson,
                                    ScalingLaw::gustafson_log};
constexpr double k_known_errors = std::numeric_limits<double>::infinity();

ScalingCurve random_curve(ScalingLaw law, Rng& rng) {
  const double communication = communicates(law) ? 0.05 * rng.uniform() : 0.0;
  return {law, 0.1 + 10.0 * rng.uniform(), 0.3 * rng.uniform(), communication};
}

std::vector<double> whole_counts(int last) {
  std::vector<double> counts(static_cast<std::size_t>(last));
  std::iota(counts.begin(), counts.end(), 1.0);
  return counts;
}

TEST(ScalingCurves, AreTheFormulasOfTheirSources) {
  const double s = 0.125;
  const double c = 0.0625;
  const double n = 8.0;
  EXPECT_DOUBLE_EQ((ScalingCurve{ScalingLaw::amdahl, 2.0, s, 0.0}.time_s(n)),
                   2.0 * (s + (1 - s) / n));
  EXPECT_DOUBLE_EQ((ScalingCurve{ScalingLaw::amdahl_linear, 2.0, s, c}.time_s(n)),
                   2.0 * (s + (1 - s) / n + c * 7));
  EXPECT_DOUBLE_EQ((ScalingCurve{ScalingLaw::amdahl_log, 2.0, s, c}.time_s(n)),
                   2.0 * (s + (1 - s) / n + c * 3));
  EXPECT_DOUBLE_EQ((ScalingCurve{ScalingLaw::gustafson, 2.0, s, 0.0}.time_s(n)), 2.0 / (n - s * 7));
  EXPECT_DOUBLE_EQ((ScalingCurve{ScalingLaw::gustafson_log, 2.0, s, c}.time_s(n)),
                   2.0 / (n - s * 7) * (1 + 3 * c));
}

TEST(ScalingCurves, OneMachineTakesItsOwnTime) {
  Rng rng(1, "curves");
  for (const ScalingLaw law : k_every_law) {
    const ScalingCurve curve = random_curve(law, rng);
    EXPECT_NEAR(curve.time_s(1.0), curve.one_s, 1e-12 * curve.one_s);
    EXPECT_NEAR(curve.shares(1.0).communication, 0.0, 1e-12)
        << "a single machine has no communication";
    EXPECT_NEAR(curve.shares(1.0).serial, curve.serial, 1e-12);
  }
}

TEST(ScalingCurves, SharesOfTheTimeAddUpToOne) {
  Rng rng(2, "curves");
  for (int i = 0; i < 40; ++i) {
    for (const ScalingLaw law : k_every_law) {
      const ScalingCurve curve = random_curve(law, rng);
      for (const double count : {1.0, 2.0, 7.0, 64.0, 4096.0}) {
        const TimeParts shares = curve.shares(count);
        EXPECT_NEAR(shares.serial + shares.parallel + shares.communication, 1.0, 1e-12);
        EXPECT_GE(shares.serial, 0.0);
        EXPECT_GE(shares.parallel, 0.0);
        EXPECT_GE(shares.communication, 0.0);
        if (!communicates(law)) {
          EXPECT_EQ(shares.communication, 0.0);
        }
      }
    }
  }
}

TEST(ScalingCurves, NoLawPromisesMoreThanAllMachinesTogether) {
  Rng rng(3, "curves");
  for (int i = 0; i < 40; ++i) {
    for (const ScalingLaw law : k_every_law) {
      const ScalingCurve curve = random_curve(law, rng);
      for (const double count : {2.0, 8.0, 100.0}) {
        const double speedup = curve.one_s / curve.time_s(count);
        EXPECT_LE(speedup, count * (1.0 + 1e-12));
        if (law == ScalingLaw::amdahl) {
          EXPECT_LT(speedup, 1.0 / curve.serial);
        }
      }
    }
  }
}

TEST(Knee, IsTheLastMachineThatPays) {
  Rng rng(4, "knees");
  const std::vector<double> counts = whole_counts(100);
  for (int i = 0; i < 40; ++i) {
    for (const ScalingLaw law : k_every_law) {
      const ScalingCurve curve = random_curve(law, rng);
      const double efficiency = 0.05 + 0.9 * rng.uniform();
      const double knee = knee_of(curve, counts, efficiency);
      const auto gained = [&](double count) {
        return curve.one_s / curve.time_s(count) - curve.one_s / curve.time_s(count - 1.0);
      };
      for (double count = 2.0; count <= knee; ++count)
        EXPECT_GE(gained(count), efficiency) << count;
      if (knee < counts.back()) {
        EXPECT_LT(gained(knee + 1.0), efficiency);
      }
    }
  }
}

TEST(Knee, OfAmdahlsLawFollowsFromItsDerivative) {
  // n / (1 + s (n - 1)) grows by (1 - s) / (1 + s (n - 1))^2 per machine.
  const double s = 0.02;
  const double efficiency = 0.5;
  const double exact = 1.0 + (std::sqrt((1.0 - s) / efficiency) - 1.0) / s;
  const double knee = knee_of({ScalingLaw::amdahl, 3.0, s, 0.0}, whole_counts(1000), efficiency);
  EXPECT_NEAR(knee, exact, 1.0);
}

TEST(Knee, IsLowerForAHigherRequiredEfficiency) {
  Rng rng(5, "knees");
  const std::vector<double> counts = whole_counts(200);
  for (int i = 0; i < 30; ++i) {
    for (const ScalingLaw law : k_every_law) {
      const ScalingCurve curve = random_curve(law, rng);
      double former = std::numeric_limits<double>::infinity();
      for (double efficiency = 0.05; efficiency <= 1.0; efficiency += 0.05) {
        const double knee = knee_of(curve, counts, efficiency);
        EXPECT_LE(knee, former);
        former = knee;
      }
    }
  }
}

TEST(Knee, DoesNotDependOnTheTimeOfOneMachine) {
  Rng rng(6, "knees");
  for (const ScalingLaw law : k_every_law) {
    ScalingCurve curve = random_curve(law, rng);
    const double knee = knee_of(curve, whole_counts(100), 0.7);
    curve.one_s *= 1024.0;
    EXPECT_EQ(knee_of(curve, whole_counts(100), 0.7), knee);
  }
}

TEST(Knee, IsTheLastCountIfNothingIsSerial) {
  for (const ScalingLaw law : k_every_law)
    EXPECT_EQ(knee_of({law, 1.0, 0.0, 0.0}, whole_counts(64), 0.99), 64.0);
}

TEST(Knee, ASingleCountIsTheKnee) {
  const std::vector<double> one{4.0};
  EXPECT_EQ(knee_of({ScalingLaw::amdahl, 1.0, 0.9, 0.0}, one, 0.7), 4.0);
}

TEST(Knee, EfficiencyIsRelativeToTheLeastPossibleCount) {
  // Machines come in pairs, and the speed of 2 is the unit.
  const ScalingCurve curve{ScalingLaw::amdahl, 1.0, 0.1, 0.0};
  const auto speed = [&](double count) { return 1.0 / curve.time_s(count); };
  const double pays_at_4 = (speed(4) - speed(2)) / 2.0 / (speed(2) / 2.0);
  const std::vector<double> counts{2.0, 4.0, 8.0};
  EXPECT_EQ(knee_of(curve, counts, pays_at_4 - 0.01), 4.0);
  EXPECT_EQ(knee_of(curve, counts, pays_at_4 + 0.01), 2.0);
}

std::vector<ScalingPoint> noisy_points(const ScalingCurve& curve, Rng& rng, double error) {
  std::vector<ScalingPoint> points;
  for (const double count : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0})
    points.push_back({count, curve.time_s(count) * std::exp(error * rng.normal()), error});
  return points;
}

TEST(ScalingFits, LawsAreOrderedByWeightsThatAddUpToOne) {
  Rng rng(7, "fits");
  for (const ScalingLaw law : k_every_law) {
    const auto fits = fit_scaling_laws(noisy_points(random_curve(law, rng), rng, 0.02), 20.0);
    ASSERT_EQ(fits.size(), k_every_law.size());
    double sum = 0.0;
    for (std::size_t i = 0; i < fits.size(); ++i) {
      sum += fits[i].weight;
      if (i > 0) {
        EXPECT_LE(fits[i].weight, fits[i - 1].weight);
      }
    }
    EXPECT_NEAR(sum, 1.0, 1e-9);
  }
}

TEST(ScalingFits, TheBestCurveIsInItsRegion) {
  Rng rng(8, "fits");
  const ScalingCurve truth{ScalingLaw::amdahl_log, 5.0, 0.05, 0.01};
  const auto points = noisy_points(truth, rng, 0.03);
  const auto chi_squared_of = [&](const ScalingCurve& curve) {
    double sum = 0.0;
    for (const ScalingPoint& point : points)
      sum += std::pow(std::log(point.time_s / curve.time_s(point.count)) / point.relative_error, 2);
    return sum;
  };
  for (const ScalingFit& fit : fit_scaling_laws(points, k_known_errors)) {
    EXPECT_NEAR(chi_squared_of(fit.best), fit.chi_squared, 1e-6);
    EXPECT_LT(fit.chi_squared, fit.chi_squared_limit);
    EXPECT_FALSE(fit.region.empty());
    for (const ScalingCurve& curve : fit.region) {
      EXPECT_LE(chi_squared_of(curve), fit.chi_squared_limit + 1e-6);
      EXPECT_GE(curve.serial, 0.0);
      EXPECT_LE(curve.serial, 1.0);
      EXPECT_GE(curve.communication, 0.0);
    }
    const Estimate at_64 = fit.estimate([](const ScalingCurve& curve) { return curve.time_s(64); });
    EXPECT_LE(at_64.low, at_64.mean);
    EXPECT_GE(at_64.high, at_64.mean);
  }
}

TEST(ScalingFits, DoNotDependOnUnitsOrOrder) {
  Rng rng(9, "fits");
  auto points = noisy_points({ScalingLaw::amdahl, 5.0, 0.08, 0.0}, rng, 0.02);
  const ScalingFit fit = fit_scaling_laws(points, 10.0).front();
  std::ranges::reverse(points);
  for (ScalingPoint& point : points)
    point.time_s *= 3600.0;
  const ScalingFit other = fit_scaling_laws(points, 10.0).front();
  EXPECT_EQ(other.best.law, fit.best.law);
  EXPECT_NEAR(other.best.serial, fit.best.serial, 1e-4);
  EXPECT_NEAR(other.best.one_s / fit.best.one_s, 3600.0, 1.0);
  EXPECT_NEAR(other.chi_squared, fit.chi_squared, 1e-6);
}

TEST(ScalingFits, TheOverallIntervalIncludesAllPlausibleLaws) {
  Rng rng(10, "fits");
  const auto fits =
      fit_scaling_laws(noisy_points({ScalingLaw::gustafson, 2.0, 0.1, 0.0}, rng, 0.05), 15.0);
  const auto time_at_64 = [](const ScalingCurve& curve) { return curve.time_s(64); };
  const Estimate any = estimate_by_plausible_laws(fits, time_at_64);
  EXPECT_EQ(any.mean, fits.front().estimate(time_at_64).mean);
  double least_chi_squared = std::numeric_limits<double>::infinity();
  double limit = 0.0;
  for (const ScalingFit& fit : fits) {
    if (fit.chi_squared < least_chi_squared) limit = fit.chi_squared_limit;
    least_chi_squared = std::min(least_chi_squared, fit.chi_squared);
  }
  for (const ScalingFit& fit : fits) {
    if (fit.chi_squared > limit) continue;
    EXPECT_LE(any.low, fit.estimate(time_at_64).low);
    EXPECT_GE(any.high, fit.estimate(time_at_64).high);
  }
}

TEST(ScalingFits, UncertainErrorsWidenIntervals) {
  Rng rng(11, "fits");
  const auto points = noisy_points({ScalingLaw::amdahl, 2.0, 0.1, 0.0}, rng, 0.02);
  const auto width = [&](double degrees_of_freedom) {
    const ScalingFit fit = fit_scaling_laws(points, degrees_of_freedom).front();
    const Estimate serial = fit.estimate([](const ScalingCurve& curve) { return curve.serial; });
    return serial.high - serial.low;
  };
  EXPECT_GT(width(2.0), width(30.0));
  EXPECT_GT(width(30.0), width(k_known_errors));
}

TEST(ScalingFits, LawsAreNotComparedOnFewPoints) {
  const std::vector<ScalingPoint> points{{1, 10.0, 0.01}, {2, 6.0, 0.01}, {4, 4.0, 0.01}};
  EXPECT_TRUE(fit_scaling_laws(std::vector<ScalingPoint>{{1, 10.0, 0.01}}, 10.0).empty());
  EXPECT_TRUE(fit_scaling_laws({}, 10.0).empty());
  const auto fits = fit_scaling_laws(points, 10.0);
  EXPECT_EQ(fits.size(), k_every_law.size());
  for (const ScalingFit& fit : fits) {
    EXPECT_FALSE(fit.aicc) << "2 parameters are compared from 4 points on";
    EXPECT_EQ(fit.weight, 0.0);
  }
}

}  // namespace
}  // namespace steptune
