// SPDX-License-Identifier: Apache-2.0
// Tests `retune` in 40 simulated nights under a virtual clock; benchmarks/nightly_year simulates
// years.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "benchmarks/nightly_year/year.hpp"
#include "common/rng.hpp"
#include "search/searcher.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::nightly_year {
namespace {

YearModel season() {
  YearModel model;
  model.seed = 3;
  model.nights = 40;
  model.seasons = {{5, 10}, {30, 34}};
  model.library_upgrade = 16;
  model.slower_machine = 25;
  return model;
}

TEST(NightlyYear, NoticesChangesTheSameNight) {
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
  EXPECT_EQ(upgrade.trust, Trust::hint) << "after an upgrade, earlier results are only hints";
  EXPECT_EQ(upgrade.searched, 40)
      << "payback does not end this search, since the slowdown lasts for all later nights";
  const Night& machine = year.nights[static_cast<std::size_t>(model.slower_machine) - 1];
  ASSERT_TRUE(machine.slowdown);
  EXPECT_EQ(machine.slowdown->scope, SlowdownScope::shared);
  EXPECT_NEAR(machine.slowdown->ratio, model.machine_factor, 0.05);
  EXPECT_EQ(to_text(machine.changes), "kernel 6.1.0-25 -> 6.1.0-27");
  const Configuration& last = year.nights.back().after.configuration;
  EXPECT_LT(true_seconds_per_sample(model, 40, last), 1.1 * best_seconds_per_sample(model, 40));
  EXPECT_LT(spent_s / 40.0, 0.2 * year.scratch_s);
}

constexpr const char* k_space = R"json({
  "name": "nightly", "command": ["train", "{batch}", "{workers}", "{precision}", "{threads}"],
  "parameters": {
    "batch":     {"type": "int", "low": 32, "high": 256, "scale": "log2"},
    "workers":   {"type": "int", "low": 0, "high": 6},
    "precision": {"type": "categorical", "choices": ["fp32", "bf16"]},
    "threads":   {"type": "int", "low": 1, "high": 4}
  },
  "baseline": {"batch": 64, "workers": 0, "precision": "fp32", "threads": 1},
  "planned_run": {"samples": 5e6, "batch_size": "batch"},
  "runner": {"type": "local"}
})json";

/// Returns the number of trials until a search is within 2 % of the best after a library upgrade;
/// 25 if it needs more.
/// The searcher learns from 40 trials before the upgrade and from 15 trials after it. If `apart`,
/// these trials form two earlier studies, otherwise one study.
double trials_to_the_best(const StudySpec& study, std::uint64_t seed, bool apart) {
  YearModel before;
  YearModel now;
  now.library_upgrade = 1;
  constexpr double k_error = 0.012;
  SearcherOptions options;
  options.seed = seed;
  options.objectives.assign(1, ObjectiveTraits{true});
  const auto searcher = must(make_searcher("bayes", study.space, options));
  Rng rng(seed, "former nights", 1);
  const auto trial_of = [&](const YearModel& model, const Configuration& configuration) {
    Observation observation;
    observation.configuration = configuration;
    const double time_s = 5e6 * true_seconds_per_sample(model, 1, configuration);
    observation.values = {time_s * std::exp(k_error * rng.normal())};
    observation.standard_errors = {k_error * time_s};
    return observation;
  };
  const auto add_former = [&](std::size_t group, const YearModel& model, int trials) {
    for (int i = 0; i < trials; ++i) {
      Configuration configuration;
      configuration.set("batch", std::int64_t{32} << static_cast<int>(4.0 * rng.uniform()));
      configuration.set("workers", static_cast<std::int64_t>(7.0 * rng.uniform()));
      configuration.set("precision", std::string(rng.uniform() < 0.5 ? "fp32" : "bf16"));
      configuration.set("threads", static_cast<std::int64_t>(1.0 + 4.0 * rng.uniform()));
      searcher->observe_earlier(group, trial_of(model, configuration));
    }
  };
  add_former(0, now, 15);
  add_former(apart ? 1 : 0, before, 40);
  searcher->observe(trial_of(now, study.baseline));
  const double best = best_seconds_per_sample(now, 1);
  constexpr int k_most = 25;
  for (int trial = 1; trial < k_most; ++trial) {
    SuggestRequest request;
    request.trial = trial + 1;
    const auto suggestion = must(searcher->suggest(request));
    if (!suggestion) break;
    searcher->observe(trial_of(now, suggestion->configuration));
    if (true_seconds_per_sample(now, 1, suggestion->configuration) <= 1.02 * best) return trial;
  }
  return k_most;
}

/// This is the reason why `night_prior` groups nights by the changes between them.
TEST(FormerNights, HelpMoreAsSeparateStudiesIfTheyDisagree) {
  const StudySpec study =
      must(study_from_json(must(parse_json(k_space, "space")), "/studies/nightly.json",
                           {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 32}}));
  double log_ratio = 0.0;
  constexpr std::uint64_t k_seeds = 20;
  for (std::uint64_t seed = 0; seed < k_seeds; ++seed) {
    log_ratio +=
        std::log(trials_to_the_best(study, seed, true) / trials_to_the_best(study, seed, false));
  }
  EXPECT_LT(std::exp(log_ratio / k_seeds), 0.8);
}

}  // namespace
}  // namespace steptune::nightly_year
