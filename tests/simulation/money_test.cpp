// SPDX-License-Identifier: Apache-2.0
// Tests the cost limit of studies on rented machines, for several kinds of trials.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/simulation/simulated_study.hpp"

namespace steptune::simulation {
namespace {

constexpr double k_usd_per_hour = 36.0;

/// The simulated study on SageMaker, at a cent per second. Batches above 32 need two instances.
Json rented_document() {
  Json document = study_document();
  document["runner"] = *parse_json(R"({
    "type": "sagemaker", "role": "arn:aws:iam::123456789012:role/training", "image": "train:1",
    "output": "s3://bucket/out", "instance_type": "ml.m5.large", "prices": {"ml.m5.large": 36},
    "instance_count": "batch_size > 32 ? 2 : 1"
  })",
                                   "runner");
  document["limits"] = {{"wall", "10m"}};
  document["budget"] = {{"trials", 30}};
  return document;
}

/// Makes all trials start slowly except the first. Neither their cost so far nor the first trial
/// shows their final cost.
TrialScript slow_start(const TrialSpec& spec) {
  TrialScript script = train(spec);
  if (spec.key.trial > 1) script.startup_s = 500.0;
  return script;
}

double spent_usd(const SimulatedRun& run) {
  double usd = 0.0;
  for (const TrialRecord& trial : run.trials())
    usd += trial.spent_usd;
  return usd;
}

TEST(Money, TrialsAreBilledByTheMachinesOfTheirConfiguration) {
  const DatabaseFolder folder;
  SimulatedRun run(folder.path(), rented_document(), train);
  ASSERT_TRUE(run.run());
  int doubled = 0;
  for (const TrialRecord& trial : run.trials()) {
    const bool large = to_number(*trial.configuration.find("batch_size")) > 32.0;
    doubled += large ? 1 : 0;
    EXPECT_NEAR(trial.spent_usd, trial.spent_s * 0.01 * (large ? 2.0 : 1.0), 1e-9) << trial.number;
  }
  EXPECT_GT(doubled, 0);
  for (const TrialSpec& spec : run.runner.started()) {
    EXPECT_EQ(spec.resources, run.study.runner->resources_of(spec.configuration));
  }
}

TEST(Money, OnlyAContinuedStudyKeepsItsIdentity) {
  const DatabaseFolder folder;
  const DatabaseFolder elsewhere;
  const auto identity_of = [](const DatabaseFolder& place, int trials, double wall_s) {
    Json document = rented_document();
    document["budget"]["trials"] = trials;
    SimulatedRun run(place.path(), document, train, wall_s);
    EXPECT_TRUE(run.run());
    return run.runner.study_identity;
  };
  const std::string identity = identity_of(folder, 2, 1000.0);
  EXPECT_FALSE(identity.empty());
  EXPECT_EQ(identity_of(folder, 4, 5000.0), identity);
  EXPECT_NE(identity_of(elsewhere, 2, 9000.0), identity);
}

TEST(Money, ARentedStudyOverrunsItsBudgetByLessThanOneTrialsBound) {
  // A trial costs about $5 or $10, at most $7.20 or $14.40. The baseline costs almost nothing.
  for (const int capacity : {1, 2, 4, 8}) {
    for (const double budget_usd : {12.0, 30.0, 47.0, 100.0}) {
      const DatabaseFolder folder;
      Json document = rented_document();
      document["budget"]["cost"] = budget_usd;
      SimulatedRun run(folder.path(), document, slow_start, 0.0, capacity);
      const auto result = run.run();
      ASSERT_TRUE(result) << result.error().text();
      // Starts are so slow that runs are too short to show what buffers hide, so either end is
      // possible.
      EXPECT_TRUE(result->end == LoopEnd::budget || result->end == LoopEnd::nothing_faster);
      const double bound_usd =
          2.0 * k_usd_per_hour * *run.study.runner->traits().longest_billed_s / 3600.0;
      EXPECT_LT(spent_usd(run), budget_usd + bound_usd) << capacity << " at a time";
      EXPECT_GT(spent_usd(run), 0.4 * budget_usd) << "the budget is used";
    }
  }
}

TEST(Money, BoundsOfRunningTrialsDelayOthersUntilTheyEnd) {
  const DatabaseFolder folder;
  Json document = rented_document();
  // Trials end early, so their bounds ($7.20 or $14.40) are far above their cost (at most $0.70).
  document["budget"]["cost"] = 16.0;
  document["budget"]["trials"] = 10;
  SimulatedRun run(folder.path(), document, train, 0.0, 4);
  const auto result = run.run();
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->reason, "10 trials") << "the money was not used up";
  EXPECT_LT(run.runner.most_running(), 4U);
  EXPECT_GE(run.runner.most_running(), 2U);
}

}  // namespace
}  // namespace steptune::simulation
