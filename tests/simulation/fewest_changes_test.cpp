// SPDX-License-Identifier: Apache-2.0
// Tests studies whose speed-up comes from one of many settings.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/simulated_study.hpp"

namespace steptune::simulation {
namespace {

using ::testing::ElementsAre;

/// A study of five settings of a loader, all of which the searcher varies.
Json loader_document() {
  Json document = study_document();
  document["command"] = {"train"};
  document["parameters"] = must(parse_json(R"({
    "workers": {"type": "int", "low": 0, "high": 3},
    "prefetch": {"type": "int", "low": 2, "high": 8, "scale": "log2", "when": "workers > 0"},
    "malloc": {"type": "categorical", "choices": ["libc", "jemalloc"]},
    "pin": {"type": "bool"},
    "threads": {"type": "int", "low": 1, "high": 2}
  })",
                                           "parameters"));
  document["env"] = {{"W", "{workers}"},
                     {"P", "{prefetch}"},
                     {"M", "{malloc}"},
                     {"PIN", "{pin}"},
                     {"T", "{threads}"}};
  document["baseline"] = {{"workers", 0}, {"malloc", "libc"}, {"pin", false}, {"threads", 2}};
  document["planned_run"] = {{"samples", 1e6}, {"batch_size", 16}};
  document["budget"] = {{"trials", 14}};
  return document;
}

/// A program whose data loading waits, so that only the number of workers matters.
TrialScript wait_for_data(const TrialSpec& spec) {
  const double workers = to_number(*spec.configuration.find("workers"));
  TrialScript script;
  script.samples_per_step = 16.0;
  script.seconds_per_step = 0.01 + 0.2 / (1.0 + workers);
  return script;
}

TEST(FewestChanges, OnlyTheWorkersOfAWaitingDataSetChange) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    const DatabaseFolder folder;
    Json document = loader_document();
    document["search"]["seed"] = seed;
    SimulatedRun run(folder.path(), document, wait_for_data);
    const LoopResult result = must(run.run());
    ASSERT_TRUE(result.recommendation);
    EXPECT_EQ(result.recommendation->claim, Claim::faster);
    EXPECT_THAT(result.recommendation->changed, ElementsAre("workers")) << "seed " << seed;
    EXPECT_EQ(*result.recommendation->configuration.find("workers"), Value(std::int64_t{3}));
    EXPECT_TRUE(std::ranges::any_of(run.trials(), [&](const TrialRecord& trial) {
      return trial.purpose == TrialPurpose::confirm_incumbent &&
             trial.configuration == result.recommendation->configuration;
    })) << "the recommended configuration was confirmed";
  }
}

TEST(FewestChanges, ASettingThatIsNeededIsPutBack) {
  const DatabaseFolder folder;
  SimulatedRun run(folder.path(), loader_document(), [](const TrialSpec& spec) {
    TrialScript script = wait_for_data(spec);
    if (std::get<bool>(*spec.configuration.find("pin"))) script.seconds_per_step *= 0.8;
    return script;
  });
  const LoopResult result = must(run.run());
  ASSERT_TRUE(result.recommendation);
  EXPECT_THAT(result.recommendation->changed, ElementsAre("pin", "workers"));
}

TEST(FewestChanges, ItsTrialsStayWithinTheBudgetOfTrials) {
  const DatabaseFolder folder;
  SimulatedRun run(folder.path(), loader_document(), wait_for_data);
  (void)must(run.run());
  const auto trials = run.trials();
  EXPECT_LE(std::ranges::count_if(trials, [](const auto& t) { return is_compared(t.purpose); }),
            14);
  EXPECT_GE(std::ranges::count(trials, k_fewest_changes, &TrialRecord::origin), 1);
}

}  // namespace
}  // namespace steptune::simulation
