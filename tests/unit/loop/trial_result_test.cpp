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
          TrialFindings findings{.detail = "detail"};
          if (!measured) findings.missing = "no reports";
          const TrialResult result = trial_result(outcome, {row.request, "reason"}, findings);
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
    const TrialResult result =
        trial_result(OutcomeKind::completed, {request}, {.violated = "loss is too high"});
    EXPECT_EQ(result.status, TrialStatus::infeasible) << static_cast<int>(request);
    EXPECT_EQ(result.failure, "loss is too high");
  }
}

TEST(TrialResult, AGuardMayBeViolatedBeforeAMeasurement) {
  const TrialFindings findings{.missing = "no reports", .violated = "loss is NaN"};
  EXPECT_EQ(trial_result(OutcomeKind::stopped, {EndRequest::guard}, findings).status,
            TrialStatus::infeasible);
}

TEST(TrialResult, ATooLongStartIsInfeasible) {
  for (const OutcomeKind outcome :
       {OutcomeKind::stopped, OutcomeKind::failed, OutcomeKind::completed}) {
    const TrialResult result =
        trial_result(outcome, {EndRequest::slow_start, "no step within 21 s"},
                     {.detail = "killed", .missing = "no reports"});
    EXPECT_EQ(result.status, TrialStatus::infeasible) << to_text(outcome);
    EXPECT_EQ(result.failure, "no step within 21 s");
  }
}

TEST(TrialResult, SettingsThatDoNotApplyAreInfeasible) {
  for (const EndRequest request :
       {EndRequest::none, EndRequest::measured, EndRequest::time_limit, EndRequest::unlike}) {
    const TrialResult result = trial_result(OutcomeKind::completed, {request},
                                            {.not_applied = "fused=true could not be set"});
    EXPECT_EQ(result.status, TrialStatus::infeasible) << static_cast<int>(request);
    EXPECT_EQ(result.failure, "fused=true could not be set");
  }
}

TEST(TrialResult, ATrialThatAHookEndsIsInfeasible) {
  const TrialFindings findings{
      .detail = "exit status 1",
      .missing = "no reports",
      .given_up = "distributed_strategy=ddp does not work with this program"};
  const TrialResult result = trial_result(OutcomeKind::failed, {EndRequest::none}, findings);
  EXPECT_EQ(result.status, TrialStatus::infeasible);
  EXPECT_EQ(result.failure, *findings.given_up);
  EXPECT_EQ(trial_result(OutcomeKind::failed, {EndRequest::user}, findings).status,
            TrialStatus::interrupted);
}

TEST(TrialResult, ASlowTrialHasNotFailed) {
  const TrialResult result =
      trial_result(OutcomeKind::stopped, {EndRequest::time_limit}, {.slow = "slow: at least 2 s"});
  EXPECT_EQ(result.status, TrialStatus::stopped_early);
  EXPECT_EQ(result.failure, "slow: at least 2 s");
}

TEST(TrialResult, ReasonsTellWhatHappened) {
  const TrialFindings missing{.missing = "12 steps"};
  EXPECT_THAT(trial_result(OutcomeKind::completed, {EndRequest::none}, missing).failure,
              HasSubstr("ended before it could be measured: 12 steps"));
  EXPECT_THAT(trial_result(OutcomeKind::stopped, {EndRequest::time_limit}, missing).failure,
              HasSubstr("12 steps"));
  EXPECT_EQ(
      trial_result(OutcomeKind::failed, {EndRequest::none}, {.detail = "exit status 3"}).failure,
      "exit status 3");
  EXPECT_EQ(trial_result(OutcomeKind::stopped, {EndRequest::scheduler, "rung 2"}, {}).failure,
            "rung 2");
}

}  // namespace
}  // namespace steptune
