// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/rate_limiter.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune::aws {
namespace {

TEST(RateLimiter, ABurstThenTheSustainedRate) {
  RateLimiter limiter({{"List", {2.0, 3.0}}}, {1.0, 1.0});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(limiter.reserve_s("List", 100.0), 100.0);
  EXPECT_DOUBLE_EQ(limiter.reserve_s("List", 100.0), 100.5);
  EXPECT_DOUBLE_EQ(limiter.reserve_s("List", 100.0), 101.0);
  EXPECT_EQ(limiter.reserve_s("Describe", 100.0), 100.0) << "operations do not share a bucket";
  EXPECT_DOUBLE_EQ(limiter.reserve_s("List", 110.0), 110.0);
}

TEST(RateLimiter, APauseIsNotSavedUpBeyondTheBurst) {
  RateLimiter limiter({}, {1.0, 2.0});
  EXPECT_EQ(limiter.reserve_s("Stop", 0.0), 0.0);
  EXPECT_EQ(limiter.reserve_s("Stop", 1000.0), 1000.0);
  EXPECT_EQ(limiter.reserve_s("Stop", 1000.0), 1000.0);
  EXPECT_DOUBLE_EQ(limiter.reserve_s("Stop", 1000.0), 1001.0);
}

/// For random arrivals: no second has more requests than the limit, no request is sent before it
/// arrived, and none overtakes another.
TEST(RateLimiter, KeepsItsLimitForAnyArrivals) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "rate_limiter");
    const RateLimit limit{0.5 + 4.0 * rng.uniform(), static_cast<double>(1 + rng.below(4))};
    RateLimiter limiter({}, limit);
    double now_s = 50.0;
    std::vector<double> sent_s;
    for (int i = 0; i < 60; ++i) {
      if (rng.below(3) == 0) now_s += 3.0 * rng.uniform();
      const double at_s = limiter.reserve_s("List", now_s);
      ASSERT_GE(at_s, now_s);
      ASSERT_GE(at_s, (sent_s.empty() ? 0.0 : sent_s.back()) - 1e-9) << "seed " << seed;
      sent_s.push_back(at_s);
    }
    for (std::size_t first = 0; first < sent_s.size(); ++first) {
      for (std::size_t last = first; last < sent_s.size(); ++last) {
        const double allowed = limit.burst + limit.per_second * (sent_s[last] - sent_s[first]);
        ASSERT_LE(static_cast<double>(last - first + 1), allowed + 1e-6) << "seed " << seed;
      }
    }
  }
}

TEST(RateLimiter, CallsWithinTheRateNeverWait) {
  RateLimiter limiter = sagemaker_rate_limiter();
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(limiter.reserve_s("CreateTrainingJob", 1.25 * i), 1.25 * i);
}

TEST(RateLimiter, SageMakersAccountWideRatesLeaveRoomForOthers) {
  const auto per_second = [](const char* operation) {
    RateLimiter limiter = sagemaker_rate_limiter();
    (void)limiter.reserve_s(operation, 0.0);
    return 1.0 / limiter.reserve_s(operation, 0.0);
  };
  for (const char* operation : {"CreateTrainingJob", "StopTrainingJob", "UpdateTrainingJob"})
    EXPECT_LT(per_second(operation), 1.0) << operation;
  EXPECT_LT(per_second("DescribeTrainingJob"), 5.0);
  EXPECT_LT(per_second("ListTrainingJobs"), 2.0);
}

}  // namespace
}  // namespace steptune::aws
