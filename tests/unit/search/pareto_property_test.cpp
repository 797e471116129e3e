// SPDX-License-Identifier: Apache-2.0
// Checks fronts and ranks against their definitions, over fixed seeds. Values are whole numbers, so
// that many are equal.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "search/pareto_front.hpp"
#include "search/schedulers/pareto_rank.hpp"

namespace steptune {
namespace {

std::vector<std::vector<double>> random_points(std::uint64_t seed, std::size_t objectives) {
  Rng rng(seed, "points");
  std::vector<std::vector<double>> points(1 + rng.below(15));
  for (auto& point : points) {
    for (std::size_t i = 0; i < objectives; ++i)
      point.push_back(static_cast<double>(rng.below(6)));
  }
  return points;
}

std::vector<std::vector<double>> all_but(const std::vector<std::vector<double>>& points,
                                         std::size_t place) {
  std::vector<std::vector<double>> others = points;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(place));
  return others;
}

TEST(ParetoProperties, DominanceIsAStrictOrder) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto points = random_points(seed, 2 + seed % 2);
    for (const auto& a : points) {
      EXPECT_FALSE(dominates(a, a));
      for (const auto& b : points) {
        if (!dominates(a, b)) continue;
        EXPECT_FALSE(dominates(b, a));
        for (const auto& c : points) {
          if (dominates(b, c)) {
            EXPECT_TRUE(dominates(a, c));
          }
        }
      }
    }
  }
}

TEST(ParetoProperties, AFrontHasUndominatedPointsOnce) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto points = random_points(seed, 2);
    std::vector<std::array<double, 2>> pairs;
    for (const auto& point : points)
      pairs.push_back({point[0], point[1]});
    std::set<std::size_t> expected;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool beaten = std::ranges::any_of(
          points, [&](const auto& other) { return dominates(other, points[i]); });
      const auto first = std::ranges::find(points, points[i]) - points.begin();
      if (!beaten && first == static_cast<std::ptrdiff_t>(i)) expected.insert(i);
    }
    const auto front = pareto_front(pairs);
    EXPECT_EQ(std::set<std::size_t>(front.begin(), front.end()), expected) << seed;
    EXPECT_EQ(front.size(), expected.size()) << "each once";
    EXPECT_TRUE(std::ranges::is_sorted(front, {}, [&](std::size_t i) { return pairs[i][0]; }));
  }
}

TEST(ParetoProperties, APointRanksBeforeAllThatItDominates) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto points = random_points(seed, 1 + seed % 3);
    for (std::size_t a = 0; a < points.size(); ++a) {
      for (std::size_t b = 0; b < points.size(); ++b) {
        if (!dominates(points[a], points[b])) continue;
        EXPECT_LT(rank_among(points[a], all_but(points, a)),
                  rank_among(points[b], all_but(points, b)))
            << seed;
      }
    }
  }
}

TEST(ParetoProperties, ARankCountsTheDominatingAndNoDominatedPoints) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto points = random_points(seed, 2);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto others = all_but(points, i);
      const std::size_t rank = rank_among(points[i], others);
      std::size_t better = 0;
      std::size_t worse = 0;
      for (const auto& other : others) {
        better += dominates(other, points[i]) ? 1U : 0U;
        worse += dominates(points[i], other) ? 1U : 0U;
      }
      EXPECT_GE(rank, better) << seed;
      EXPECT_LE(rank, others.size() - worse) << seed;
    }
  }
}

TEST(ParetoProperties, ARankDoesNotDependOnTheOrderOfObjectives) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto points = random_points(seed, 2);
    // Make values distinct: among equal ones, the order would decide which one is an end.
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i][0] += 1e-3 * static_cast<double>(i);
      points[i][1] += 1e-3 * static_cast<double>((7 * i) % 16);
    }
    auto swapped = points;
    for (auto& point : swapped)
      std::swap(point[0], point[1]);
    for (std::size_t i = 0; i < points.size(); ++i)
      EXPECT_EQ(rank_among(points[i], all_but(points, i)),
                rank_among(swapped[i], all_but(swapped, i)))
          << seed;
  }
}

}  // namespace
}  // namespace steptune
