// SPDX-License-Identifier: Apache-2.0
// Tests programs that report only steps, and may ignore their batch size.
#include <algorithm>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/simulated_study.hpp"

namespace steptune::simulation {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// A study whose first trial after the baseline changes only the batch size.
Json document_of_steps() {
  Json document = study_document();
  document["try"] = Json::array({{{"batch_size", 128}, {"workers", 0}}});
  return document;
}

LoopResult must_run(SimulatedRun& run) {
  auto result = run.run();
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

TEST(IgnoredBatch, IsNeverSaidToBeFaster) {
  DatabaseFolder folder;
  SimulatedRun run(folder.path(), document_of_steps(), [](const TrialSpec&) {
    TrialScript script;
    script.reports_samples = false;
    return script;
  });
  const LoopResult result = must_run(run);
  ASSERT_TRUE(result.recommendation);
  EXPECT_NE(result.recommendation->claim, Claim::faster);
  EXPECT_EQ(to_number(*result.recommendation->configuration.find("batch_size")), 32.0);
  for (const TrialRecord& trial : run.trials()) {
    if (!is_searched(trial.purpose)) continue;
    if (to_number(*trial.configuration.find("batch_size")) == 32.0) continue;
    EXPECT_EQ(trial.status, TrialStatus::infeasible) << trial.number;
    EXPECT_THAT(trial.failure, HasSubstr("not applied"));
  }
}

TEST(IgnoredBatch, IsFoundDespiteWorkersThatChangeTheSpeed) {
  DatabaseFolder folder;
  SimulatedRun run(folder.path(), document_of_steps(), [](const TrialSpec& spec) {
    TrialScript script;
    script.reports_samples = false;
    script.seconds_per_step = 0.1 + 0.05 * to_number(*spec.configuration.find("workers"));
    return script;
  });
  const LoopResult result = must_run(run);
  ASSERT_TRUE(result.recommendation);
  EXPECT_NE(result.recommendation->claim, Claim::faster);
}

TEST(IgnoredBatch, AnAppliedBatchCountsWithAssumedSamples) {
  DatabaseFolder folder;
  SimulatedRun run(folder.path(), document_of_steps(), [](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.reports_samples = false;
    return script;
  });
  const LoopResult result = must_run(run);
  ASSERT_TRUE(result.recommendation);
  EXPECT_EQ(result.recommendation->claim, Claim::faster);
  EXPECT_GT(to_number(*result.recommendation->configuration.find("batch_size")), 32.0);
  EXPECT_THAT(texts_of(result.recommendation->notes),
              Contains(HasSubstr("samples of a step were assumed")));
}

}  // namespace
}  // namespace steptune::simulation
