// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/request_backoff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune::slurm {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

const SlurmOptions k_limits{.queue_wait_s = 3600.0, .longest_outage_s = 900.0};

TEST(RequestBackoff, ARefusalWithNothingHeldIsFinal) {
  RequestBackoff backoff(k_limits);
  EXPECT_EQ(backoff.on_setback("a", Setback::refused, "no such partition", 0, 0.0),
            "no such partition");
}

TEST(RequestBackoff, ARefusalBesideAHeldAllocationIsRetried) {
  RequestBackoff backoff(k_limits);
  EXPECT_EQ(backoff.on_setback("a", Setback::refused, "limit", 1, 0.0), std::nullopt);
  EXPECT_EQ(backoff.may_ask_at_s("a", 1), 60.0);
  EXPECT_EQ(backoff.may_ask_at_s("a", 0), 0.0);
  EXPECT_EQ(backoff.may_ask_at_s("b", 0), 0.0) << "kind b had no setback";
  EXPECT_EQ(backoff.on_setback("a", Setback::refused, "limit", 1, 60.0), std::nullopt);
  EXPECT_EQ(backoff.may_ask_at_s("a", 1), 180.0);
  EXPECT_EQ(backoff.on_setback("a", Setback::refused, "limit", 0, 70.0), "limit");
}

TEST(RequestBackoff, AllocationsThatEndUnusedAreNotRequestedForever) {
  RequestBackoff backoff(k_limits);
  EXPECT_EQ(backoff.on_setback("a", Setback::unused, "job 1", 0, 0.0), std::nullopt);
  EXPECT_EQ(backoff.may_ask_at_s("a", 0), 5.0);
  EXPECT_EQ(backoff.on_setback("a", Setback::unused, "job 2", 0, 10.0), std::nullopt);
  EXPECT_EQ(backoff.may_ask_at_s("a", 0), 20.0);
  EXPECT_THAT(backoff.on_setback("a", Setback::unused, "job 3", 0, 30.0),
              Optional(HasSubstr("3 allocations")));

  EXPECT_EQ(backoff.on_setback("a", Setback::unused, "job 4", 0, 40.0), std::nullopt);
  backoff.on_used("a");
  EXPECT_EQ(backoff.on_setback("a", Setback::unused, "job 5", 0, 50.0), std::nullopt);
  EXPECT_EQ(backoff.may_ask_at_s("a", 0), 55.0) << "a trial has started in between";
}

TEST(RequestBackoff, AFullQueueIsRetriedUntilTheLimitOfWaiting) {
  RequestBackoff backoff(k_limits);
  EXPECT_EQ(backoff.on_setback("a", Setback::full, "AssocMaxSubmitJobLimit", 0, 0.0), std::nullopt);
  EXPECT_EQ(backoff.on_setback("a", Setback::full, "AssocMaxSubmitJobLimit", 0, 3599.0),
            std::nullopt);
  EXPECT_THAT(backoff.on_setback("a", Setback::full, "AssocMaxSubmitJobLimit", 0, 3600.0),
              Optional(HasSubstr("queue_wait")));
}

TEST(RequestBackoff, SubmissionsThatFailForLongerThanAnOutageAreGivenUp) {
  RequestBackoff backoff(k_limits);
  EXPECT_EQ(backoff.on_setback("a", Setback::unclear, "?", 0, 0.0), std::nullopt);
  EXPECT_EQ(backoff.on_setback("a", Setback::unclear, "?", 0, 899.0), std::nullopt);
  backoff.on_accepted("a");
  // A new outage begins at 900 s.
  EXPECT_EQ(backoff.on_setback("a", Setback::unclear, "?", 0, 900.0), std::nullopt);
  EXPECT_EQ(backoff.on_setback("a", Setback::unclear, "?", 0, 1000.0), std::nullopt);
  EXPECT_THAT(backoff.on_setback("a", Setback::unclear, "?", 0, 1800.0),
              Optional(HasSubstr("no allocation could be requested for")));
}

TEST(RequestBackoff, ASubmissionMustFailThreeTimes) {
  RequestBackoff quick(k_limits);
  EXPECT_EQ(quick.on_setback("a", Setback::unclear, "?", 0, 0.0), std::nullopt);
  EXPECT_EQ(quick.on_setback("a", Setback::unclear, "?", 0, 900.0), std::nullopt) << "twice";
  EXPECT_TRUE(quick.on_setback("a", Setback::unclear, "?", 0, 901.0));
  RequestBackoff often(k_limits);
  for (int time = 0; time < 9; ++time)
    EXPECT_EQ(often.on_setback("a", Setback::unclear, "?", 0, 99.0 * time), std::nullopt);
}

TEST(RequestBackoff, ADifferentSetbackRestartsTheDelay) {
  RequestBackoff backoff(k_limits);
  EXPECT_EQ(backoff.on_setback("a", Setback::unused, "job 1", 0, 0.0), std::nullopt);
  EXPECT_EQ(backoff.on_setback("a", Setback::unused, "job 2", 0, 1.0), std::nullopt);
  EXPECT_EQ(backoff.on_setback("a", Setback::full, "full", 0, 2.0), std::nullopt);
  EXPECT_EQ(backoff.may_ask_at_s("a", 0), 32.0);
  EXPECT_EQ(backoff.on_setback("a", Setback::unused, "job 3", 0, 3.0), std::nullopt);
  EXPECT_EQ(backoff.may_ask_at_s("a", 0), 8.0);
}

TEST(RequestBackoff, AnAcceptedSubmissionClearsEarlierSetbacks) {
  for (const Setback setback : {Setback::full, Setback::unclear}) {
    RequestBackoff backoff(k_limits);
    EXPECT_EQ(backoff.on_setback("a", setback, "?", 0, 50.0), std::nullopt);
    backoff.on_accepted("b");
    EXPECT_GT(backoff.may_ask_at_s("a", 0), 50.0) << "only kind b was accepted";
    backoff.on_accepted("a");
    EXPECT_EQ(backoff.may_ask_at_s("a", 0), 0.0);
  }
  RequestBackoff backoff(k_limits);
  EXPECT_EQ(backoff.on_setback("a", Setback::unused, "job 1", 0, 50.0), std::nullopt);
  backoff.on_accepted("a");
  EXPECT_EQ(backoff.may_ask_at_s("a", 0), 55.0);
  backoff.on_used("b");
  EXPECT_EQ(backoff.may_ask_at_s("a", 0), 55.0) << "only kind b was used";
  EXPECT_EQ(backoff.on_setback("c", Setback::full, "full", 0, 50.0), std::nullopt);
  backoff.on_used("c");
  EXPECT_EQ(backoff.may_ask_at_s("c", 0), 80.0)
      << "a used allocation does not show that the queue has room";
}

/// Random setbacks. While an allocation of the kind is held, requests are never given up.
TEST(RequestBackoff, DelaysLieBetweenTheFirstAndTheLongestOfTheirSetback) {
  // For `refused`, `full`, `unclear` and `unused`.
  constexpr double k_first_s[] = {60.0, 30.0, 10.0, 5.0};
  constexpr double k_longest_s[] = {900.0, 600.0, 300.0, 60.0};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "grants");
    RequestBackoff backoff(k_limits);
    double now_s = 0.0;
    for (int event = 0; event < 40; ++event) {
      now_s += 100.0 * rng.uniform();
      const auto which = rng.below(4);
      const int held = static_cast<int>(rng.below(2));
      const auto hopeless =
          backoff.on_setback("a", static_cast<Setback>(which), "why", held, now_s);
      EXPECT_FALSE(hopeless && held > 0) << "seed " << seed;
      if (hopeless) {
        EXPECT_THAT(*hopeless, HasSubstr("why"));
        EXPECT_EQ(backoff.may_ask_at_s("a", 0), 0.0) << "a further trial may ask at once";
        continue;
      }
      const double waits_s = backoff.may_ask_at_s("a", 1) - now_s;
      EXPECT_GE(waits_s, k_first_s[which] - 1e-9) << "seed " << seed;
      EXPECT_LE(waits_s, k_longest_s[which] + 1e-9) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace steptune::slurm
