// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/trade_offs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double k_pair_error = 0.02;  // of each value

double normal_deviate(Rng& rng) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - rng.uniform()));
  return radius * std::cos(6.283185307179586 * rng.uniform());
}

using Pair = std::array<MeasuredValue, 2>;

Pair pair_of(double first, double second) {
  return {MeasuredValue{first, k_pair_error * first}, MeasuredValue{second, k_pair_error * second}};
}

/// Returns how many of 1000 studies with `count` trials call one of them a trade-off against the
/// best.
template <typename Trial>
int studies_with_trade_offs(std::size_t count, Trial trial) {
  int studies = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Rng rng(seed, "trade-offs");
    std::vector<Pair> trials;
    for (std::size_t i = 0; i < count; ++i)
      trials.push_back(trial(rng, i));
    const auto best = std::ranges::min_element(
        trials, {}, [](const Pair& compared) { return compared[0].value; });
    const Pair leader = *best;
    trials.erase(best);
    studies += trade_offs(leader, trials).empty() ? 0 : 1;
  }
  return studies;
}

TEST(TradeOffs, NoiseRarelyMakesATradeOff) {
  const auto independent = [](Rng& rng, std::size_t) {
    return pair_of(100.0 * (1.0 + k_pair_error * normal_deviate(rng)),
                   10.0 * (1.0 + k_pair_error * normal_deviate(rng)));
  };
  for (const std::size_t count : {2U, 10U, 50U}) {
    const int studies = studies_with_trade_offs(count, independent);
    EXPECT_LE(studies, 65) << count << ": one in twenty, and two standard deviations more";
  }
}

TEST(TradeOffs, ProportionalCostGivesNone) {
  const auto proportional = [](Rng& rng, std::size_t i) {
    const double time =
        (100.0 + static_cast<double>(i)) * (1.0 + k_pair_error * normal_deviate(rng));
    return pair_of(time, 0.1 * time);
  };
  EXPECT_EQ(studies_with_trade_offs(30, proportional), 0);
  // The first trial is the best one by fresh runs, although its mean is not the lowest. There is no
  // trade-off either.
  EXPECT_THAT(trade_offs(pair_of(104.0, 10.4), std::vector{pair_of(100.0, 10.0)}), IsEmpty());
  EXPECT_THAT(trade_offs(pair_of(204.0, 20.4), std::vector{pair_of(100.0, 10.0)}), IsEmpty());
}

TEST(TradeOffs, ATrueTradeOffIsFound) {
  const auto two_types = [](Rng& rng, std::size_t i) {
    const bool is_cheap = i % 2 == 0;
    const double time = (is_cheap ? 130.0 : 100.0) * (1.0 + k_pair_error * normal_deviate(rng));
    return pair_of(time, (is_cheap ? 0.05 : 0.1) * time);
  };
  EXPECT_EQ(studies_with_trade_offs(20, two_types), 1000);
}

TEST(TradeOffs, OneOfEquallyGoodTradeOffsIsNamed) {
  // Equally cheap: the fastest one counts.
  EXPECT_THAT(trade_offs(pair_of(100, 10),
                         std::vector{pair_of(200, 5.0), pair_of(150, 5.1), pair_of(210, 4.9)}),
              ElementsAre(1));
  // Equally fast: the cheapest one counts.
  EXPECT_THAT(trade_offs(pair_of(100, 10), std::vector{pair_of(150, 7.0), pair_of(152, 5.0)}),
              ElementsAre(1));
}

TEST(TradeOffs, AStaircaseIsNamedInOrderOfTheFirstObjective) {
  EXPECT_THAT(trade_offs(pair_of(100, 10), std::vector{pair_of(300, 2.0), pair_of(150, 7.0),
                                                       pair_of(400, 2.5), pair_of(200, 4.0)}),
              ElementsAre(1, 3, 0));
}

TEST(TradeOffs, ATrialThatIsTiedWithTheBestAndCheaperIsNamed) {
  EXPECT_THAT(trade_offs(pair_of(100, 10), std::vector{pair_of(101, 7.0), pair_of(99, 7.5)}),
              ElementsAre(0));
}

TEST(TradeOffs, ValuesWithoutAnErrorAreComparedDirectly) {
  const double infinite = std::numeric_limits<double>::infinity();
  const auto pair = [](const MeasuredValue& first, const MeasuredValue& second) {
    return Pair{first, second};
  };
  const Pair best = pair({1.0, infinite}, {10.0, 0.0});
  const std::vector<Pair> others{pair({2.0, infinite}, {9.9, 0.0}),
                                 pair({2.5, infinite}, {9.9, infinite}),
                                 pair({3.0, 0.1}, {9.8, std::nan("")})};
  EXPECT_THAT(trade_offs(best, others), ElementsAre(0, 2));
  EXPECT_THAT(trade_offs(best, {}), IsEmpty());
}

}  // namespace
}  // namespace steptune
