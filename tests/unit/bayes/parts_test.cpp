// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "search/searchers/bayes/feature_map.hpp"
#include "search/searchers/bayes/initial_design.hpp"
#include "search/searchers/bayes/learner.hpp"
#include "search/searchers/bayes/memory_rule.hpp"
#include "search/searchers/bayes/output_transform.hpp"
#include "search/searchers/bayes/point_set.hpp"
#include "tests/unit/bayes/spaces.hpp"

namespace steptune::bayes {
namespace {

using testing_spaces::batch_space;
using testing_spaces::choice;
using testing_spaces::create;
using testing_spaces::integer;
using testing_spaces::mixed_space;

double squared_distance(const Matrix& rows, std::size_t a, std::size_t b) {
  double sum = 0.0;
  for (std::size_t f = 0; f < rows.cols(); ++f)
    sum += std::pow(rows(a, f) - rows(b, f), 2);
  return sum;
}

TEST(FeatureMap, ChoicesAreEquallyFarApartAndNumbersByPosition) {
  const SearchSpace space = create({integer("n", 0, 10), choice("c", {"a", "b", "c"})});
  const FeatureMap map(space);
  const std::vector<double> points{0.0, 0, 0.0, 1, 0.0, 2, 0.3, 2};
  const Matrix rows = map.rows(points);
  EXPECT_NEAR(squared_distance(rows, 0, 1), 1.0, 1e-12);
  EXPECT_NEAR(squared_distance(rows, 1, 2), 1.0, 1e-12);
  EXPECT_NEAR(squared_distance(rows, 2, 3), 0.09, 1e-12);
}

TEST(FeatureMap, AnInactiveParameterIsItsOwnPlace) {
  const SearchSpace space = mixed_space();
  const FeatureMap map(space);
  Point off = space.encode(*space.enumerate(100'000)->begin());  // workers = 0
  ASSERT_EQ(off[2], k_inactive);
  std::vector<double> points;
  for (const double prefetch : {k_inactive, 0.0, 1.0}) {
    off[2] = prefetch;
    points.insert(points.end(), off.begin(), off.end());
  }
  const Matrix rows = map.rows(points);
  EXPECT_NEAR(squared_distance(rows, 0, 1), squared_distance(rows, 0, 2), 1e-12);
  EXPECT_GT(squared_distance(rows, 0, 1), 0.1);
}

TEST(FeatureMap, AConstantParameterHasNoDimension) {
  EXPECT_EQ(FeatureMap(create({integer("n", 4, 4), integer("m", 0, 3)})).groups().count, 2U);
}

TEST(OutputTransform, GoesThereAndBack) {
  const std::vector<double> values{1e12, 3e12, 2.5e12, 7e11};
  for (const Warp warp : {Warp::none, Warp::log}) {
    const OutputTransform transform(warp, values);
    double sum = 0.0;
    double squares = 0.0;
    for (const double value : values) {
      const double target = transform.forward(value);
      EXPECT_NEAR(transform.backward(target), value, 1e-9 * value);
      sum += target;
      squares += target * target;
      const double step = 1e-6 * value;
      EXPECT_NEAR(transform.log_jacobian(value),
                  std::log((transform.forward(value + step) - target) / step), 1e-5);
      EXPECT_NEAR(std::sqrt(transform.noise_variance(value, step)),
                  transform.forward(value + step) - target, 1e-10);
    }
    EXPECT_NEAR(sum, 0.0, 1e-9);
    EXPECT_NEAR(squares, 4.0, 1e-9);
  }
}

TEST(OutputTransform, ConstantAndExtremeValuesStayFinite) {
  for (const std::vector<double>& values :
       {std::vector<double>{5.0, 5.0}, std::vector<double>{0.0}, std::vector<double>{1e300, -1e300},
        std::vector<double>{1e-300, 1e-300}}) {
    const OutputTransform transform(Warp::none, values);
    for (const double value : values) {
      EXPECT_TRUE(std::isfinite(transform.forward(value)));
      EXPECT_TRUE(std::isfinite(transform.log_jacobian(value)));
      EXPECT_TRUE(std::isfinite(transform.improvement_share(0.0, 0.5, 1e-8)));
    }
  }
}

TEST(OutputTransform, ShareOfImprovementAgreesWithSampling) {
  const std::vector<double> values{1.0, 2.0, 4.0, 3.0};
  for (const Warp warp : {Warp::none, Warp::log}) {
    const OutputTransform transform(warp, values);
    const double best = transform.forward(1.0);
    Rng rng(2, "share");
    double sum = 0.0;
    constexpr int k_draws = 100'000;
    for (int i = 0; i < k_draws; ++i) {
      sum += std::max(0.0, 1.0 - transform.backward(best + 0.2 + 0.4 * rng.normal()));
    }
    EXPECT_NEAR(transform.improvement_share(best, best + 0.2, 0.16), sum / k_draws, 2e-3);
  }
}

TEST(MemoryRule, ExcludesLargerBatchesWithEverythingElseEqual) {
  const SearchSpace space = batch_space();
  MemoryRule rule(space);
  rule.add({0.5, 0.0});
  EXPECT_TRUE(rule.excludes(Point{0.7, 0.0}));
  EXPECT_FALSE(rule.excludes(Point{0.4, 0.0}));
  EXPECT_FALSE(rule.excludes(Point{0.7, 1.0}));
}

TEST(MemoryRule, SaysNothingWhereNothingIsDeclared) {
  MemoryRule rule(mixed_space());
  rule.add({0.5, 0.5, 0.5, 1, 0.5});
  EXPECT_FALSE(rule.excludes(Point{0.7, 0.5, 0.5, 1, 0.5}));
}

TEST(InitialDesign, FillsTheSpaceAndDependsOnTheSeed) {
  const SearchSpace space = create({integer("a", 0, 1000), integer("b", 0, 1000)});
  std::vector<Point> firsts;
  for (const std::uint64_t seed : {1U, 2U}) {
    const InitialDesign design(space, seed);
    PointSet taken;
    std::array<int, 4> quadrants{};
    for (int i = 0; i < 16; ++i) {
      const auto point = design.next([&](auto candidate) { return !taken.contains(candidate); });
      ASSERT_TRUE(point);
      ASSERT_TRUE(taken.insert(*point));
      if (i == 0) firsts.push_back(*point);
      ++quadrants[((*point)[0] < 0.5 ? 0U : 1U) + ((*point)[1] < 0.5 ? 0U : 2U)];
    }
    for (const int count : quadrants)
      EXPECT_NEAR(count, 4, 2);
  }
  EXPECT_NE(firsts[0], firsts[1]);
}

TEST(Learner, BelievesTheSameWhetherAskedOftenOrOnce) {
  const FeatureGroups groups{{0, 1}, 2};
  Learner often(groups, 2, true);
  Learner once(groups, 2, true);
  Rng rng(4, "learner");
  Matrix probe(2);
  probe.append_row()[0] = 0.3;
  for (int i = 0; i < 70; ++i) {
    const std::vector<double> row{rng.uniform(), rng.uniform()};
    // Late, a value that has no logarithm.
    const double value = i == 55 ? -1.0 : std::exp(3.0 * row[0] + row[1]);
    often.add(row, value, 0.0);
    once.add(row, value, 0.0);
    (void)often.model(Matrix(2));
    if (i % 23 != 22 && i != 69) continue;
    Learner fresh = once;
    const auto a = often.models(Matrix(2), 3);
    const auto b = fresh.models(Matrix(2), 3);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
      EXPECT_EQ(a[k].weight, b[k].weight) << i;
      EXPECT_EQ(a[k].process.predict(probe).means, b[k].process.predict(probe).means) << i;
      EXPECT_EQ(a[k].process.predict(probe).variances, b[k].process.predict(probe).variances) << i;
    }
  }
}

TEST(Learner, ChoosesTheLogarithmForMultiplicativeEffectsAndNotForAdditiveOnes) {
  const FeatureGroups groups{{0, 1, 2}, 3};
  for (const bool multiplicative : {true, false}) {
    Learner learner(groups, 3, true);
    Rng rng(6, "warp");
    for (int i = 0; i < 40; ++i) {
      const std::vector<double> row{rng.uniform(), rng.uniform(), rng.uniform()};
      const double effect = 3.0 * row[0] + 2.0 * row[1] * row[1] - row[2];
      learner.add(row, multiplicative ? std::exp(2.0 * effect) : effect + 1.2, 0.0);
    }
    EXPECT_EQ(learner.model(Matrix(3)).transform.warp(), multiplicative ? Warp::log : Warp::none);
  }
}

TEST(Learner, PendingPointsReduceVarianceAndKeepTheMean) {
  const FeatureGroups groups{{0}, 1};
  Learner learner(groups, 1, false);
  for (int i = 0; i < 5; ++i) {
    learner.add(std::vector<double>{0.1 * i}, std::sin(1.0 * i), 0.0);
  }
  Matrix pending(1);
  pending.append_row()[0] = 0.9;
  const Posterior without = learner.model(Matrix(1)).process.predict(pending);
  const Posterior with = learner.model(pending).process.predict(pending);
  EXPECT_NEAR(with.means[0], without.means[0], 1e-6);
  EXPECT_LT(with.variances[0], 0.1 * without.variances[0]);
}

}  // namespace
}  // namespace steptune::bayes
