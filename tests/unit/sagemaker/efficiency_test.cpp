// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "benchmarks/warm_pools/schedules.hpp"
#include "tests/support/sanitized.hpp"

namespace steptune::bench {
namespace {

/// Simulated schedules of jobs in warm pools; the parameter is the number of pools.
class WarmPoolEfficiency : public testing::TestWithParam<int> {
  void SetUp() override {
    if (k_sanitized) GTEST_SKIP() << "the fault runs execute the same code";
  }
};

TEST_P(WarmPoolEfficiency, LittleIsBilledBeyondTheLeast) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Workload workload = make_workload(40, 2, GetParam(), seed);
    const PoolFigures ours = play(workload, Policy::ours);
    EXPECT_LE(ours.other_billed_s, 1.10 * ours.least_other_s) << "seed " << seed;
    EXPECT_GE(ours.other_billed_s, ours.least_other_s) << "less than the proven minimum";
    EXPECT_GE(ours.mean_cold_start_s, 7.5 * ours.mean_warm_start_s);
  }
}

TEST_P(WarmPoolEfficiency, NaivePoliciesPayMore) {
  const Workload workload = make_workload(40, 2, GetParam(), 1);
  const double ours_s = play(workload, Policy::ours).other_billed_s;
  EXPECT_GT(play(workload, Policy::no_pools).other_billed_s, 2.0 * ours_s);
  EXPECT_GT(play(workload, Policy::unordered).other_billed_s, 2.0 * ours_s);
}

INSTANTIATE_TEST_SUITE_P(Pools, WarmPoolEfficiency, testing::Values(1, 4));

}  // namespace
}  // namespace steptune::bench
