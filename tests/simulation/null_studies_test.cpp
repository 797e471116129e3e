// SPDX-License-Identifier: Apache-2.0
// Tests studies in which no configuration is faster, and some in which one is.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "benchmarks/null_studies/simulated_studies.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune::null_studies {
namespace {

struct Count {
  int claims = 0;
  int covered = 0;
};

/// Counts studies that claim a speed-up, and claims whose interval covers the true speed-up.
Count count_claims(const Machine& machine, const Program& program, int studies) {
  Count count;
  for (int seed = 0; seed < studies; ++seed) {
    const DatabaseFolder folder;
    const Outcome outcome = must(run_study(machine, program, Json{{"trials", 8}, {"time", "15m"}},
                                           static_cast<std::uint64_t>(seed), folder.path()));
    if (outcome.claim != Claim::faster) continue;
    ++count.claims;
    const SpeedUp& speed_up = outcome.speed_up;
    count.covered += speed_up.low <= outcome.truth && outcome.truth <= speed_up.high ? 1 : 0;
  }
  return count;
}

TEST(NullStudies, ClaimNothingMoreOftenThanOnceInTwenty) {
  int claims = 0;
  for (const double launch_variation : {0.0, 0.01, 0.03}) {
    for (const double drift : {-0.01, 0.0, 0.01})
      claims += count_claims({launch_variation, drift}, {}, 10).claims;
  }
  EXPECT_LE(claims, 9) << "of 90; more has a chance of 0.015 at a true share of 5 %";
}

TEST(NullStudies, FindFivePercentDespiteLaunchesThatDiffer) {
  const Count count = count_claims({0.01, 0.0}, {1.05, 1.0}, 30);
  EXPECT_GE(count.claims, 20) << "fewer has a chance of 0.03 at a true share of 80 %";
}

TEST(NullStudies, ClearlyFasterConfigurationsAreClaimed) {
  const Count count = count_claims({0.01, 0.01}, {1.3, 1.0}, 30);
  EXPECT_EQ(count.claims, 30);
  EXPECT_GE(count.covered, 26);
}

TEST(NullStudies, ASecondStudyConfirmsTheFirstsPromise) {
  int both = 0, kept = 0;
  for (const double launch_variation : {0.0, 0.01, 0.03}) {
    for (std::uint64_t seed = 0; seed < 20; seed += 2) {
      const Machine machine{launch_variation, 0.01};
      const auto confirmed = [&](std::uint64_t of) {
        const DatabaseFolder folder;
        return must(run_study(machine, {1.3, 1.0}, Json{{"trials", 8}}, of, folder.path()));
      };
      const Outcome first = confirmed(seed);
      const Outcome second = confirmed(seed + 1);
      if (first.claim != Claim::faster || second.claim != Claim::faster) continue;
      ++both;
      const double found = second.speed_up.ratio;
      kept += first.speed_up.repeat_low <= found && found <= first.speed_up.repeat_high ? 1 : 0;
    }
  }
  EXPECT_GE(both, 25);
  EXPECT_GE(kept, both - 3) << "of 30; more has a chance of 0.06 at a true share of 95 %";
}

TEST(NullStudies, StallsAreNotMistakenForASpeedUp) {
  Machine machine{0.01, 0.0};
  machine.stall_period_steps = 200.0;
  machine.stall_steps = 10.0;
  EXPECT_LE(count_claims(machine, {}, 30).claims, 4)
      << "more has a chance of 0.02 at a true share of 5 %";
  EXPECT_GE(count_claims(machine, {1.5, 1.0}, 5).claims, 4);
}

/// Numbers of studies by verdict. The studies have a budget of a quarter of an hour.
struct Verdicts {
  int nothing_to_gain = 0;
  int faster = 0;
  double longest_s = 0.0;  ///< longest of the studies with nothing to gain
};

Verdicts verdicts_of(const std::vector<double>& speeds, double launch_variation, int studies) {
  Program program;
  program.speeds = speeds;
  program.worth = 0.05;
  Verdicts verdicts;
  for (int seed = 0; seed < studies; ++seed) {
    const DatabaseFolder folder;
    const Outcome outcome = must(run_study({launch_variation, 0.0}, program, Json{{"time", "15m"}},
                                           static_cast<std::uint64_t>(seed), folder.path()));
    if (outcome.claim == Claim::faster) ++verdicts.faster;
    if (outcome.claim != Claim::nothing_to_gain) continue;
    ++verdicts.nothing_to_gain;
    verdicts.longest_s = std::max(verdicts.longest_s, outcome.elapsed_s);
  }
  return verdicts;
}

TEST(NullStudies, EndEarlyIfNothingIsToBeGained) {
  const std::vector<double> slower{1.0, 0.98, 0.97, 0.96, 0.95, 0.95, 0.94, 0.93};
  const Verdicts quiet = verdicts_of(slower, 0.005, 20);
  EXPECT_GE(quiet.nothing_to_gain, 17);
  EXPECT_LT(quiet.longest_s, 700.0) << "of 900 s";
  EXPECT_EQ(verdicts_of(slower, 0.03, 10).faster, 0);
}

TEST(NullStudies, ATrueGainOfATenthIsAlmostNeverNothing) {
  const std::vector<double> speeds{1.0, 1.04, 1.07, 1.1, 1.1, 1.09, 1.08, 1.07};
  int nothing = 0, faster = 0;
  for (const double launch_variation : {0.01, 0.02, 0.03}) {
    const Verdicts verdicts = verdicts_of(speeds, launch_variation, 30);
    nothing += verdicts.nothing_to_gain;
    faster += verdicts.faster;
  }
  EXPECT_LE(nothing, 1) << "of 90";
  EXPECT_GE(faster, 60);
}

TEST(NullStudies, TheBayesianSearcherClaimsNothingEither) {
  Program program;
  program.searcher = "bayes";
  EXPECT_LE(count_claims({0.01, 0.0}, program, 20).claims, 3)
      << "more has a chance of 0.02 at a true share of 5 %";
  program.speed_up = 1.3;
  EXPECT_GE(count_claims({0.01, 0.0}, program, 5).claims, 4);
}

}  // namespace
}  // namespace steptune::null_studies
