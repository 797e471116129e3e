// SPDX-License-Identifier: Apache-2.0
// Tests bisections in simulation; benchmarks/bisections simulates more of them.
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

#include "benchmarks/bisections/simulated_bisection.hpp"

namespace steptune::bisections {
namespace {

constexpr int k_searches = 100;

struct Sum {
  int found = 0, wrong = 0;
};

Sum search_all(BisectionModel model,
               const std::function<SearchResult(const BisectionModel&)>& search) {
  Sum sum;
  for (int i = 0; i < k_searches; ++i) {
    model.seed = 5000 + static_cast<std::uint64_t>(i);
    const SearchResult result = search(model);
    if (!result.named) continue;
    ++(*result.named == result.first_slow ? sum.found : sum.wrong);
  }
  return sum;
}

TEST(Bisections, ASlowVersionIsFoundInTime) {
  BisectionModel model;
  model.launch_variation = 0.01;
  EXPECT_GE(search_all(model, bisect).found, 0.95 * k_searches);
  model.launch_variation = 0.03;
  model.time_s = 7200.0;
  EXPECT_GE(search_all(model, bisect).found, 0.9 * k_searches);
}

TEST(Bisections, AWrongVersionIsRarelyNamed) {
  for (const double variation : {0.0, 0.01, 0.03, 0.1}) {
    BisectionModel model;
    model.launch_variation = variation;
    EXPECT_LE(search_all(model, bisect).wrong, 0.05 * k_searches) << variation;
  }
  // Plain bisection names a wrong version in more than half of the searches.
  BisectionModel model;
  model.launch_variation = 0.03;
  EXPECT_GE(search_all(model, bisect_plainly).wrong, 0.5 * k_searches);
}

TEST(Bisections, WithoutASlowdownNoVersionIsNamed) {
  BisectionModel model;
  model.slowdown = 0.0;
  const Sum sum = search_all(model, bisect);
  EXPECT_LE(sum.found + sum.wrong, 0.05 * k_searches);
}

}  // namespace
}  // namespace steptune::bisections
