// SPDX-License-Identifier: Apache-2.0
#include "common/rng.hpp"

#include <array>

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(Rng, SameKeySameDraws) {
  Rng a(7, "searcher", 3);
  Rng b(7, "searcher", 3);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(a.bits(), b.bits());
}

TEST(Rng, EveryPartOfTheKeyMatters) {
  const auto first = [](std::uint64_t seed, const char* purpose, std::uint64_t number) {
    return Rng(seed, purpose, number).bits();
  };
  EXPECT_NE(first(7, "searcher", 3), first(8, "searcher", 3));
  EXPECT_NE(first(7, "searcher", 3), first(7, "replay", 3));
  EXPECT_NE(first(7, "searcher", 3), first(7, "searcher", 4));
}

TEST(Rng, BelowIsUniform) {
  Rng rng(1, "test");
  std::array<int, 3> counts{};
  for (int i = 0; i < 30'000; ++i)
    ++counts.at(rng.below(3));
  for (const int count : counts)
    EXPECT_NEAR(count, 10'000, 400);
}

TEST(Rng, NormalHasMeanZeroAndVarianceOne) {
  Rng rng(1, "test");
  double sum = 0.0;
  double squares = 0.0;
  constexpr int k_draws = 50'000;
  for (int i = 0; i < k_draws; ++i) {
    const double draw = rng.normal();
    sum += draw;
    squares += draw * draw;
  }
  EXPECT_NEAR(sum / k_draws, 0.0, 0.02);
  EXPECT_NEAR(squares / k_draws, 1.0, 0.03);
}

}  // namespace
}  // namespace steptune
