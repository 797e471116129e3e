// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/grants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune::slurm {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

const GrantLimits k_limits{3600.0, 900.0};

TEST(Grants, WhatIsRefusedWithNothingHeldIsHopelessAtOnce) {
  Grants grants(k_limits);
  EXPECT_EQ(grants.on_setback("a", Setback::refused, "no such partition", 0, 0.0),
            "no such partition");
}

TEST(Grants, WhatIsRefusedBesideOneThatIsHeldIsAskedForAgainLaterOrOnceThatIsGone) {
  Grants grants(k_limits);
  EXPECT_EQ(grants.on_setback("a", Setback::refused, "limit", 1, 0.0), std::nullopt);
  EXPECT_EQ(grants.may_ask_at_s("a", 1), 60.0);
  EXPECT_EQ(grants.may_ask_at_s("a", 0), 0.0);
  EXPECT_EQ(grants.may_ask_at_s("b", 0), 0.0) << "of another kind";
  EXPECT_EQ(grants.on_setback("a", Setback::refused, "limit", 1, 60.0), std::nullopt);
  EXPECT_EQ(grants.may_ask_at_s("a", 1), 180.0);
  EXPECT_EQ(grants.on_setback("a", Setback::refused, "limit", 0, 70.0), "limit");
}

TEST(Grants, AllocationsThatEndUnusedAreNotAskedForWithoutEnd) {
  Grants grants(k_limits);
  EXPECT_EQ(grants.on_setback("a", Setback::unused, "job 1", 0, 0.0), std::nullopt);
  EXPECT_EQ(grants.may_ask_at_s("a", 0), 5.0);
  EXPECT_EQ(grants.on_setback("a", Setback::unused, "job 2", 0, 10.0), std::nullopt);
  EXPECT_EQ(grants.may_ask_at_s("a", 0), 20.0);
  EXPECT_THAT(grants.on_setback("a", Setback::unused, "job 3", 0, 30.0),
              Optional(HasSubstr("3 allocations")));

  EXPECT_EQ(grants.on_setback("a", Setback::unused, "job 4", 0, 40.0), std::nullopt);
  grants.on_used("a");
  EXPECT_EQ(grants.on_setback("a", Setback::unused, "job 5", 0, 50.0), std::nullopt);
  EXPECT_EQ(grants.may_ask_at_s("a", 0), 55.0) << "a trial has started in between";
}

TEST(Grants, AFullQueueIsWaitedForAsLongAsAQueue) {
  Grants grants(k_limits);
  EXPECT_EQ(grants.on_setback("a", Setback::full, "AssocMaxSubmitJobLimit", 0, 0.0), std::nullopt);
  EXPECT_EQ(grants.on_setback("a", Setback::full, "AssocMaxSubmitJobLimit", 0, 3599.0),
            std::nullopt);
  EXPECT_THAT(grants.on_setback("a", Setback::full, "AssocMaxSubmitJobLimit", 0, 3600.0),
              Optional(HasSubstr("queue_wait")));
}

TEST(Grants, ASubmissionThatFailsForAsLongAsAnOutageIsHopeless) {
  Grants grants(k_limits);
  EXPECT_EQ(grants.on_setback("a", Setback::unclear, "?", 0, 0.0), std::nullopt);
  EXPECT_EQ(grants.on_setback("a", Setback::unclear, "?", 0, 899.0), std::nullopt);
  grants.on_accepted("a");
  EXPECT_EQ(grants.on_setback("a", Setback::unclear, "?", 0, 900.0), std::nullopt);
  EXPECT_EQ(grants.on_setback("a", Setback::unclear, "?", 0, 1000.0), std::nullopt);
  EXPECT_THAT(grants.on_setback("a", Setback::unclear, "?", 0, 1800.0),
              Optional(HasSubstr("no allocation could be asked for in")));
}

}  // namespace
}  // namespace steptune::slurm
