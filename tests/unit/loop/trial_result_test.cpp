// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_result.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/outcome_text.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;

constexpr auto k_completed = TrialStatus::completed;
constexpr auto k_early = TrialStatus::stopped_early;
constexpr auto k_failed = TrialStatus::failed;
constexpr auto k_oom = TrialStatus::out_of_memory;
constexpr auto k_interrupted = TrialStatus::interrupted;

/// One row per outcome and request: the status with values, and without values.
struct Row {
  EndRequest request;
  TrialStatus measured;
  TrialStatus unmeasured;
};
struct Block {
  std::vector<OutcomeKind> outcomes;
  std::vector<Row> rows;
};

const std::vector<Block> k_table{
    // Exit status 0.
    {{OutcomeKind::completed},
     {{EndRequest::none, k_completed, k_failed},
      {EndRequest::measured, k_completed, k_failed},
      {EndRequest::time_limit, k_completed, k_failed},
      {EndRequest::scheduler, k_early, k_failed},
      {EndRequest::no_machine, k_completed, k_interrupted},
      {EndRequest::user, k_completed, k_interrupted}}},
    // Other exit statuses, signals, limits.
    {{OutcomeKind::failed, OutcomeKind::timed_out, OutcomeKind::hung},
     {{EndRequest::none, k_failed, k_failed},
      {EndRequest::measured, k_completed, k_failed},
      {EndRequest::time_limit, k_completed, k_failed},
      {EndRequest::scheduler, k_early, k_failed},
      {EndRequest::no_machine, k_interrupted, k_interrupted},
      {EndRequest::user, k_interrupted, k_interrupted}}},
    // Ended by the runner, or lost.
    {{OutcomeKind::stopped, OutcomeKind::lost},
     {{EndRequest::none, k_interrupted, k_interrupted},
      {EndRequest::measured, k_completed, k_failed},
      {EndRequest::time_limit, k_completed, k_failed},
      {EndRequest::scheduler, k_early, k_failed},
      {EndRequest::no_machine, k_interrupted, k_interrupted},
      {EndRequest::user, k_interrupted, k_interrupted}}},
    {{OutcomeKind::out_of_memory},
     {{EndRequest::none, k_oom, k_oom},
      {EndRequest::measured, k_oom, k_oom},
      {EndRequest::time_limit, k_oom, k_oom},
      {EndRequest::scheduler, k_oom, k_oom},
      {EndRequest::no_machine, k_oom, k_oom},
      {EndRequest::user, k_oom, k_oom}}},
    {{OutcomeKind::not_started},
     {{EndRequest::none, k_failed, k_failed},
      {EndRequest::measured, k_failed, k_failed},
      {EndRequest::time_limit, k_failed, k_failed},
      {EndRequest::scheduler, k_failed, k_failed},
      {EndRequest::no_machine, k_failed, k_failed},
      {EndRequest::user, k_failed, k_failed}}},
};

TEST(TrialResult, EveryCellOfTheTruthTable) {
  int cells = 0;
  for (const auto& block : k_table) {
    for (const OutcomeKind outcome : block.outcomes) {
      for (const Row& row : block.rows) {
        for (const bool measured : {true, false}) {
          TrialEnding ending{outcome, "detail", row.request, "reason", {}, {}, {}};
          if (!measured) ending.missing = "no reports";
          const TrialResult result = trial_result(ending);
          EXPECT_EQ(result.status, measured ? row.measured : row.unmeasured)
              << to_text(outcome) << ", request " << static_cast<int>(row.request) << ", measured "
              << measured << " -> " << to_text(result.status);
          EXPECT_EQ(result.failure.empty(), result.status == k_completed);
          ++cells;
        }
      }
    }
  }
  EXPECT_EQ(cells, 8 * 6 * 2) << "eight outcomes";
}

TEST(TrialResult, AViolatedGuardMakesAMeasuredTrialInfeasible) {
  for (const EndRequest request : {EndRequest::none, EndRequest::measured, EndRequest::time_limit,
                                   EndRequest::guard, EndRequest::scheduler}) {
    TrialEnding ending{OutcomeKind::completed, "", request, "", {}, "loss is too high", {}};
    const TrialResult result = trial_result(ending);
    EXPECT_EQ(result.status, TrialStatus::infeasible) << static_cast<int>(request);
    EXPECT_EQ(result.failure, "loss is too high");
  }
}

TEST(TrialResult, AGuardMayBeViolatedBeforeAMeasurement) {
  const TrialEnding ending{OutcomeKind::stopped, "", EndRequest::guard, "", "no reports",
                           "loss is NaN",        {}};
  EXPECT_EQ(trial_result(ending).status, TrialStatus::infeasible);
}

TEST(TrialResult, ATooLongStartIsInfeasible) {
  for (const OutcomeKind outcome :
       {OutcomeKind::stopped, OutcomeKind::failed, OutcomeKind::completed}) {
    const TrialResult result = trial_result(
        {outcome, "killed", EndRequest::slow_start, "no step within 21 s", "no reports", {}, {}});
    EXPECT_EQ(result.status, TrialStatus::infeasible) << to_text(outcome);
    EXPECT_EQ(result.failure, "no step within 21 s");
  }
}

TEST(TrialResult, SettingsThatDoNotApplyAreInfeasible) {
  for (const EndRequest request :
       {EndRequest::none, EndRequest::measured, EndRequest::time_limit, EndRequest::unlike}) {
    TrialEnding ending{OutcomeKind::completed, "", request, "", {}, {}, {}};
    ending.not_applied = "fused=true could not be set";
    const TrialResult result = trial_result(ending);
    EXPECT_EQ(result.status, TrialStatus::infeasible) << static_cast<int>(request);
    EXPECT_EQ(result.failure, "fused=true could not be set");
  }
}

TEST(TrialResult, ATrialThatAHookEndsIsInfeasible) {
  TrialEnding ending{
      OutcomeKind::failed, "exit status 1", EndRequest::none, "", "no reports", {}, {}};
  ending.given_up = "distributed_strategy=ddp does not work with this program";
  EXPECT_EQ(trial_result(ending).status, TrialStatus::infeasible);
  EXPECT_EQ(trial_result(ending).failure, *ending.given_up);
  ending.request = EndRequest::user;
  EXPECT_EQ(trial_result(ending).status, TrialStatus::interrupted);
}

TEST(TrialResult, ASlowTrialHasNotFailed) {
  const TrialResult result = trial_result(
      {OutcomeKind::stopped, "", EndRequest::time_limit, "", {}, {}, "slow: at least 2 s"});
  EXPECT_EQ(result.status, TrialStatus::stopped_early);
  EXPECT_EQ(result.failure, "slow: at least 2 s");
}

TEST(TrialResult, ReasonsTellWhatHappened) {
  EXPECT_THAT(
      trial_result({OutcomeKind::completed, "", EndRequest::none, "", "12 steps", {}, {}}).failure,
      HasSubstr("ended before it could be measured: 12 steps"));
  EXPECT_THAT(
      trial_result({OutcomeKind::stopped, "", EndRequest::time_limit, "", "12 steps", {}, {}})
          .failure,
      HasSubstr("12 steps"));
  EXPECT_EQ(trial_result({OutcomeKind::failed, "exit status 3", EndRequest::none, "", {}, {}, {}})
                .failure,
            "exit status 3");
  EXPECT_EQ(
      trial_result({OutcomeKind::stopped, "", EndRequest::scheduler, "rung 2", {}, {}, {}}).failure,
      "rung 2");
}

}  // namespace
}  // namespace steptune
