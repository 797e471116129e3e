// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/phase_log.hpp"

#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/numbers.hpp"

namespace steptune {
namespace {

/// Returns how many phases `name` have ended.
double count(const PhaseLog& log, const std::string& name) {
  return log.events().contains(name) ? log.events().at(name).count() : 0.0;
}

TEST(PhaseLog, APhaseWithAReportedEndCountsOnce) {
  PhaseLog log;
  log.begins("evaluation", 100.0, 10.0);
  log.ended("evaluation", 100.0, 3.0);
  log.end_open(200.0, 0.0, 30.0);
  EXPECT_EQ(count(log, "evaluation"), 1.0);
  EXPECT_EQ(log.total_s(), 3.0);
}

TEST(PhaseLog, TheEndOfAnotherPhaseDoesNotEndTheOpenOne) {
  PhaseLog log;
  log.begins("evaluation", 100.0, 10.0);
  log.ended("checkpoint", 100.0, 1.0);
  log.end_open(200.0, 0.0, 14.0);
  EXPECT_EQ(count(log, "checkpoint"), 1.0);
  EXPECT_EQ(count(log, "evaluation"), 1.0);
  EXPECT_EQ(log.total_s(), 1.0 + 4.0);
}

TEST(PhaseLog, ANewPhaseEndsTheOpenOne) {
  PhaseLog log;
  log.begins("evaluation", 100.0, 10.0);
  log.begins("evaluation", 100.0, 12.0);
  log.begins("checkpoint", 100.0, 15.0);
  EXPECT_EQ(count(log, "evaluation"), 1.0);
  EXPECT_EQ(log.total_s(), 5.0) << "a second report of the same phase does not restart it";
  log.end_open(101.0, 0.0, 16.0);
  EXPECT_EQ(log.total_s(), 6.0);
  log.end_open(102.0, 0.0, 99.0);
  EXPECT_EQ(log.total_s(), 6.0) << "nothing is open";
}

TEST(PhaseLog, LaterStepsAreSubtractedFromAPhase) {
  PhaseLog log;
  log.begins("evaluation", 100.0, 10.0);
  log.end_open(120.0, 12.0, 15.0);
  EXPECT_EQ(log.total_s(), 3.0) << "five seconds, of which steps take two";
  log.begins("evaluation", 200.0, 20.0);
  log.end_open(220.0, 30.0, 25.0);
  EXPECT_EQ(log.total_s(), 3.0) << "time is never negative";
}

TEST(PhaseLog, InvalidTimesAreLeftOut) {
  PhaseLog log;
  for (const double seconds : {-1.0, k_infinity, std::numeric_limits<double>::quiet_NaN()})
    log.ended("evaluation", 100.0, seconds);
  EXPECT_EQ(count(log, "evaluation"), 0.0);
  EXPECT_EQ(log.total_s(), 0.0);
  log.ended("evaluation", 100.0, 0.0);
  EXPECT_EQ(count(log, "evaluation"), 1.0);
}

TEST(PhaseLog, BeyondThirtyTwoNamesAllOthersCountTogether) {
  PhaseLog log;
  for (int i = 0; i < 40; ++i)
    log.ended(fmt::format("phase {}", i), 10.0 * i, 1.0);
  log.ended("phase 31", 500.0, 1.0);
  EXPECT_EQ(log.events().size(), 33U);
  EXPECT_EQ(count(log, "phase 31"), 2.0) << "a phase of a known name still counts";
  EXPECT_EQ(count(log, "other"), 8.0);
  EXPECT_EQ(log.total_s(), 41.0);
}

}  // namespace
}  // namespace steptune
