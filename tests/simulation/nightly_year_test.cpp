// SPDX-License-Identifier: Apache-2.0
// A season of nights under a virtual clock; years of them: benchmarks/nightly_year.
#include <algorithm>

#include <gtest/gtest.h>

#include "benchmarks/nightly_year/year.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune::nightly_year {
namespace {

YearModel season() {
  YearModel model;
  model.seed = 3;
  model.nights = 40;
#ifndef STEPTUNE_BAYES
  model.searcher = "sobol";
#endif
  model.seasons = {{5, 10}, {30, 34}};
  model.library_upgrade = 16;
  model.slower_machine = 25;
  return model;
}

TEST(NightlyYear, NoticesWhatHappensTheSameNightAndCostsLittle) {
  const DatabaseFolder folder;
  const YearModel model = season();
  const Year year = must(play(model, folder.path(), {20}));
  ASSERT_EQ(year.nights.size(), 40U);
  double spent_s = 0.0;
  for (const Night& night : year.nights) {
    spent_s += night.elapsed_s;
    const bool happens =
        night.number == model.library_upgrade || night.number == model.slower_machine;
    EXPECT_EQ(night.slowdown.has_value(), happens) << "night " << night.number;
    EXPECT_EQ(night.broken, "");
    EXPECT_NE(night.result, NightResult::failed) << night.reason;
  }
  const Night& upgrade = year.nights[static_cast<std::size_t>(model.library_upgrade) - 1];
  ASSERT_TRUE(upgrade.slowdown);
  EXPECT_EQ(upgrade.slowdown->since, model.library_upgrade);
  EXPECT_EQ(to_text(upgrade.changes), "torch 2.4.0 -> 2.5.1");
  EXPECT_EQ(upgrade.trust, Trust::hint) << "what was best before need not be best";
  EXPECT_EQ(upgrade.searched, 40) << "not ended by payback: every later night would lose the same";
  const Night& machine = year.nights[static_cast<std::size_t>(model.slower_machine) - 1];
  ASSERT_TRUE(machine.slowdown);
  EXPECT_EQ(machine.slowdown->scope, SlowdownScope::shared);
  EXPECT_NEAR(machine.slowdown->ratio, model.machine_factor, 0.05);
  EXPECT_EQ(to_text(machine.changes), "kernel 6.1.0-25 -> 6.1.0-27");
  const Configuration& last = year.nights.back().after.configuration;
  EXPECT_LT(true_seconds_per_sample(model, 40, last), 1.1 * best_seconds_per_sample(model, 40));
#ifdef STEPTUNE_BAYES
  EXPECT_LT(spent_s / 40.0, 0.2 * year.scratch_s);
#endif
}

}  // namespace
}  // namespace steptune::nightly_year
