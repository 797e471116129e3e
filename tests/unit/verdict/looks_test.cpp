// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/looks.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "trial_runner/measure/quantiles.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;

TEST(Looks, UseUpTheWholeErrorAndNoMore) {
  for (const int usual : {2, 3, 10}) {
    double total = 0.0;
    for (const Look& look : looks_until(1'000'000, {2, usual}))
      total += look.share;
    EXPECT_LE(total, 1.0) << usual;
    EXPECT_GT(total, 0.99) << usual;
  }
}

TEST(Looks, GrowGeometrically) {
  const auto numbers = [](int pairs, int usual) {
    std::vector<int> result;
    for (const Look& look : looks_until(pairs, {2, usual}))
      result.push_back(look.pairs);
    return result;
  };
  EXPECT_THAT(numbers(13, 3), ElementsAre(2, 3, 5, 8, 12, 19));
  EXPECT_THAT(numbers(16, 4), ElementsAre(2, 3, 4, 6, 10, 16));
  EXPECT_THAT(numbers(2, 3), ElementsAre(2));
}

TEST(Looks, TheLastLookHasTheRestOfTheError) {
  for (const int last : {2, 3, 4, 8, 9}) {
    const std::vector<Look> looks = looks_until(last, {2, 3, last});
    EXPECT_EQ(looks.back().pairs, last);
    double total = 0.0;
    for (const Look& look : looks)
      total += look.share;
    EXPECT_NEAR(total, 1.0, 1e-12) << last;
  }
  EXPECT_GT(error_of_look(3, {2, 3, 3}, 0.025), 1.5 * error_of_look(3, {2, 3}, 0.025));
  EXPECT_TRUE(is_look(4, {2, 3, 4}));
}

TEST(ErrorOfLook, TheFirstLookHasItsShare) {
  EXPECT_NEAR(error_of_look(2, {2, 3}, 0.025), 0.75 * 0.3 * 0.025, 1e-7);
  EXPECT_EQ(error_of_look(4, {2, 3}, 0.025), error_of_look(5, {2, 3}, 0.025)) << "4 is no look";
}

/// The figures come from another program, with 500 points.
TEST(ErrorOfLook, LaterLooksHaveMoreThanTheirShare) {
  constexpr double k_all = 0.025 / 0.75;
  EXPECT_NEAR(error_of_look(3, {2, 3}, k_all), 0.009372, 2e-6);
  EXPECT_NEAR(error_of_look(8, {2, 3}, k_all), 0.004900, 2e-6);
  EXPECT_NEAR(error_of_look(12, {2, 3}, k_all), 0.003470, 2e-6);
}

/// Simulates finalists that are not faster. Returns the share that some look up to `most` pairs
/// calls faster. `by_scatter`: the scatter of the pairs is estimated (Student's t), not known.
double share_of_false_claims(int most, LookPlan plan, bool by_scatter) {
  constexpr int k_finalists = 40'000;
  const std::vector<Look> looks = looks_until(most, plan);
  std::vector<double> limits;
  for (const Look& look : looks) {
    const double freedom = by_scatter ? look.pairs - 1.0 : 1e6;
    limits.push_back(student_quantile(freedom, error_of_look(look.pairs, plan, 0.025)));
  }
  int claims = 0;
  for (std::uint64_t finalist = 0; finalist < k_finalists; ++finalist) {
    Rng rng(7, "looks_test", finalist);
    double sum = 0.0;
    double squares = 0.0;
    int pairs = 0;
    bool claimed = false;
    for (std::size_t at = 0; at < looks.size() && !claimed; ++at) {
      for (; pairs < looks[at].pairs; ++pairs) {
        const double ratio = rng.normal();
        sum += ratio;
        squares += ratio * ratio;
      }
      const double variance = by_scatter ? (squares - sum * sum / pairs) / (pairs - 1.0) : 1.0;
      claimed = sum > limits[at] * std::sqrt(variance * pairs);
    }
    claims += claimed ? 1 : 0;
  }
  return claims / static_cast<double>(k_finalists);
}

TEST(ErrorOfLook, AConfirmationThatEndsByTimeClaimsFalselyInOneOfFortyCases) {
  constexpr double k_deviation = 0.0008;
  EXPECT_NEAR(share_of_false_claims(6, {2, 3, 6}, false), 0.01875, 3 * k_deviation);
  EXPECT_LT(share_of_false_claims(6, {2, 3, 6}, true), 0.026);
}

TEST(ErrorOfLook, AllLooksTogetherClaimFalselyInAtMostOneOfFortyCases) {
  constexpr double k_deviation = 0.0008;
  for (const LookPlan plan : {LookPlan{2, 3}, LookPlan{3, 3}}) {
    EXPECT_NEAR(share_of_false_claims(30, plan, false), 0.0175, 3 * k_deviation);
    EXPECT_LT(share_of_false_claims(30, plan, true), 0.0250);
    EXPECT_GT(share_of_false_claims(30, plan, true), 0.0175);
  }
}

}  // namespace
}  // namespace steptune
