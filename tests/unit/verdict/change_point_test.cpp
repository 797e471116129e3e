// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/change_point.hpp"

#include <cmath>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChangePoint, AtFirstEachVersionIsEquallyLikely) {
  const ChangePoint change(4);
  EXPECT_THAT(change.probabilities(), ElementsAre(0.25, 0.25, 0.25, 0.25));
  EXPECT_FALSE(change.found(0.95));
  EXPECT_THAT(change.next(3), ElementsAre(0, 1, 2));
  EXPECT_FALSE(change.slowdown_from(0));
}

TEST(ChangePoint, PreciseMeasurementsFindTheVersion) {
  ChangePoint change(8);
  change.observe(7, 0.05, 0.005);
  change.observe(3, 0.001, 0.005);
  EXPECT_THAT(change.remaining(0.95), ElementsAre(4, 5, 6, 7));
  change.observe(5, 0.051, 0.005);
  change.observe(4, 0.0, 0.005);
  EXPECT_EQ(change.found(0.95), 5U);
  EXPECT_NEAR(*change.slowdown_from(5), 0.0505, 1e-9);
}

TEST(ChangePoint, AVersionThatCannotRunIsNotMeasured) {
  ChangePoint change(3);
  change.observe(2, 0.1, 0.01);
  change.observe(0, 0.0, 0.01);
  EXPECT_THAT(change.next(1), ElementsAre(1));
  change.skip(1);
  change.skip(2);
  change.skip(0);
  EXPECT_THAT(change.next(1), IsEmpty());
  EXPECT_THAT(change.remaining(0.95), ElementsAre(1, 2));
}

TEST(ChangePoint, AVersionIsMeasuredBesideItsPredecessor) {
  ChangePoint change(64);
  change.observe(63, 0.05, 0.01);
  change.observe(40, 0.05, 0.01);
  change.observe(30, 0.0, 0.01);
  for (const std::size_t version : change.next(6)) {
    EXPECT_GE(version, 30U);
    EXPECT_LE(version, 40U);
  }
}

/// Compares with plain bisection, which takes the fastest of three runs of each version as the
/// truth. Both find a slowdown of 5 % among 64 versions, whose runs differ by 5 %.
TEST(ChangePoint, FindsMoreThanPlainBisection) {
  constexpr int k_searches = 200;
  constexpr std::size_t k_versions = 64;
  constexpr double k_scatter = 0.05;
  const double slow = std::log(1.05);
  int found = 0;
  int wrong = 0;
  int found_plainly = 0;
  double runs = 0.0;
  for (int seed = 0; seed < k_searches; ++seed) {
    Rng rng(9, "versions", static_cast<std::uint64_t>(seed));
    const auto first = static_cast<std::size_t>(rng.uniform() * k_versions);
    const auto measured = [&](std::size_t version, int launches) {
      const double error = k_scatter * std::sqrt(2.0 / launches);
      return (version >= first ? slow : 0.0) + error * rng.normal();
    };
    ChangePoint change(k_versions);
    for (int stage = 0; stage < 6 && !change.found(0.95); ++stage) {
      auto versions = change.next(6);
      if (stage == 0) versions.push_back(k_versions - 1);
      for (const std::size_t version : versions) {
        constexpr int k_launches = 20;
        change.observe(version, measured(version, k_launches),
                       k_scatter * std::sqrt(2.0 / k_launches));
        runs += k_launches;
      }
    }
    if (const auto version = change.found(0.95)) {
      found += *version == first ? 1 : 0;
      wrong += *version == first ? 0 : 1;
    }
    std::size_t low = 0;
    std::size_t high = k_versions - 1;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      const bool is_slow = measured(middle, 3) > 0.5 * slow;
      (is_slow ? high : low) = is_slow ? middle : middle + 1;
    }
    found_plainly += low == first ? 1 : 0;
  }
  EXPECT_LE(wrong, 0.1 * k_searches);
  EXPECT_GE(found, 0.7 * k_searches) << runs / k_searches;
  EXPECT_GE(found, 2 * found_plainly);
}

}  // namespace
}  // namespace steptune
