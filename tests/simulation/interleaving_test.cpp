// SPDX-License-Identifier: Apache-2.0
// Tests confirming runs that take turns, if the runner can do so.
#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/simulated_study.hpp"

namespace steptune::simulation {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InterleavedPairs : public ::testing::Test {
 protected:
  InterleavedPairs() { document_["budget"] = Json{{"trials", 5}}; }

  void run(const ScriptedRunner::Script& script) {
    const DatabaseFolder folder;
    SimulatedRun run(folder.path(), document_, script);
    run.runner.interleaved = true;
    result_ = must(run.run());
    started_ = run.runner.started();
    most_running_ = run.runner.most_running();
    trials_ = run.trials();
    warnings_ = run.listener.warnings;
  }
  [[nodiscard]] std::vector<int> rounds_of_confirming() const {
    std::vector<int> rounds;
    for (const TrialSpec& spec : started_) {
      const auto& trial = trials_.at(static_cast<std::size_t>(spec.key.trial) - 1);
      if (is_confirmation(trial.purpose)) rounds.push_back(spec.interleaved_round);
    }
    return rounds;
  }

  Json document_ = study_document();
  LoopResult result_;
  std::vector<TrialSpec> started_;
  std::size_t most_running_ = 0;
  std::vector<TrialRecord> trials_;
  std::vector<std::string> warnings_;
};

TEST_F(InterleavedPairs, OnlyRunsOfARoundRunTogether) {
  run(train);
  ASSERT_TRUE(result_.recommendation);
  EXPECT_EQ(result_.recommendation->claim, Claim::faster);
  const std::vector<int> rounds = rounds_of_confirming();
  ASSERT_THAT(rounds.size(), ::testing::Ge(4U));
  EXPECT_THAT(std::vector(rounds.begin(), rounds.begin() + 4), ElementsAre(1, 1, 2, 2));
  EXPECT_EQ(most_running_, 2U);
  for (const TrialSpec& spec : started_) {
    const auto& trial = trials_.at(static_cast<std::size_t>(spec.key.trial) - 1);
    if (!is_confirmation(trial.purpose)) {
      EXPECT_EQ(spec.interleaved_round, 0) << spec.key.trial;
    }
  }
}

TEST_F(InterleavedPairs, AStudyCanTurnInterleavingOff) {
  document_["measure"]["interleave"] = false;
  run(train);
  EXPECT_THAT(rounds_of_confirming(), Each(0));
  EXPECT_EQ(most_running_, 1U);
}

/// An interrupted run is repeated as a second attempt, which runs alone. No other run may start
/// beside it, not even the repetition of a disturbed run: the runner would throw.
TEST_F(InterleavedPairs, RepeatedRunsOfAnInterruptedRoundRunAlone) {
  const DatabaseFolder folder;
  const auto disturbed = [](const TrialSpec& spec) {
    TrialScript script = train(spec);
    if (spec.key.attempt > 1) script.disturbed_share = 0.9;
    return script;
  };
  {
    SimulatedRun cut(folder.path(), document_, disturbed);
    cut.runner.interleaved = true;
    cut.interrupts = [&] {
      return !cut.runner.started().empty() && cut.runner.started().back().interleaved_round == 1;
    };
    EXPECT_EQ(must(cut.run()).end, LoopEnd::interrupted);
  }
  SimulatedRun run(folder.path(), document_, disturbed, 1000.0);
  run.runner.interleaved = true;
  const LoopResult result = must(run.run());
  ASSERT_TRUE(result.recommendation);
  EXPECT_EQ(result.recommendation->claim, Claim::faster);
  int repeated = 0;
  for (const TrialSpec& spec : run.runner.started()) {
    if (spec.key.attempt == 1) continue;
    ++repeated;
    EXPECT_EQ(spec.interleaved_round, 0) << spec.key.trial;
  }
  EXPECT_GE(repeated, 1);
}

TEST_F(InterleavedPairs, ATrialThatFailsBesideAnotherRunsAgainAlone) {
  run([](const TrialSpec& spec) {
    TrialScript script = train(spec);
    if (spec.interleaved_round > 0) {
      script.steps = 3;
      script.ends_as = OutcomeKind::failed;
      script.detail = "port 29500 is taken";
    }
    return script;
  });
  ASSERT_TRUE(result_.recommendation);
  EXPECT_EQ(result_.recommendation->claim, Claim::faster);
  EXPECT_THAT(warnings_, ::testing::Contains(HasSubstr("one after another")));
  EXPECT_THAT(warnings_, ::testing::Contains(HasSubstr("port 29500 is taken")));
  const std::vector<int> rounds = rounds_of_confirming();
  EXPECT_EQ(std::ranges::count(rounds, 1), 2);
  EXPECT_EQ(std::ranges::max(rounds), 1);
  for (const TrialRecord& trial : trials_) {
    if (is_confirmation(trial.purpose)) {
      EXPECT_EQ(trial.status, TrialStatus::completed);
    }
  }
}

/// A launcher may wait at its rendezvous for a launcher that is stopped.
TEST_F(InterleavedPairs, ATrialThatDoesNotStartBesideAnotherRunsAgainAlone) {
  run([](const TrialSpec& spec) {
    TrialScript script = train(spec);
    if (spec.interleaved_round > 0) script.startup_s = 100'000.0;
    return script;
  });
  ASSERT_TRUE(result_.recommendation);
  EXPECT_EQ(result_.recommendation->claim, Claim::faster);
  EXPECT_THAT(warnings_,
              ::testing::Contains(::testing::AllOf(HasSubstr("one after another"),
                                                   HasSubstr("no step reported within"))));
  EXPECT_EQ(std::ranges::max(rounds_of_confirming()), 1);
  for (const TrialRecord& trial : trials_) {
    if (is_confirmation(trial.purpose)) {
      EXPECT_EQ(trial.status, TrialStatus::completed) << trial.failure;
    }
  }
}

}  // namespace
}  // namespace steptune::simulation
