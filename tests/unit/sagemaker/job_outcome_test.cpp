// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/job_outcome.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/outcome_text.hpp"

namespace steptune {
namespace {

using testing::HasSubstr;

JobDescription state(const std::string& status, const std::string& secondary = {},
                     const std::string& reason = {}) {
  JobDescription state;
  state.status = status;
  state.secondary = secondary;
  state.failure_reason = reason;
  return state;
}

struct Case {
  const char* what;
  JobDescription state;
  std::optional<StopCause> requested;
  OutcomeKind kind;
  const char* detail;
};

TEST(JobOutcome, FollowsFromTheJobsStatusAndTheRunnersRequest) {
  const Case cases[] = {
      {"ended by itself", state("Completed"), {}, OutcomeKind::completed, ""},
      {"ended by itself, after a stop request", state("Completed"), StopCause::caller,
       OutcomeKind::completed, ""},
      {"stopped on request", state("Stopped"), StopCause::caller, OutcomeKind::stopped, ""},
      {"silent", state("Stopped"), StopCause::no_output, OutcomeKind::hung, "no output for"},
      {"stopped by somebody else", state("Stopped"), {}, OutcomeKind::stopped, "outside Steptune"},
      {"wall limit",
       state("Stopped", "MaxRuntimeExceeded"),
       {},
       OutcomeKind::timed_out,
       "limit of 1.0 h"},
      {"no spot capacity",
       state("Stopped", "MaxWaitTimeExceeded"),
       {},
       OutcomeKind::not_started,
       "spot capacity"},
      {"exit status",
       state("Failed", {}, "AlgorithmError: , exit code: 3"),
       {},
       OutcomeKind::failed,
       "its last output: Traceback | KeyError"},
      {"exit status after a stop request", state("Failed", {}, "AlgorithmError: , exit code: 143"),
       StopCause::caller, OutcomeKind::stopped, ""},
      {"out of memory after a stop request",
       state("Failed", {}, "AlgorithmError: CUDA out of memory, exit code: 1"), StopCause::caller,
       OutcomeKind::out_of_memory, "out of memory"},
      {"internal",
       state("Failed", {}, "InternalServerError: please retry"),
       {},
       OutcomeKind::lost,
       "SageMaker"},
      {"capacity",
       state("Failed", {}, "CapacityError: unable to provision"),
       {},
       OutcomeKind::not_started,
       "no capacity"},
  };
  TrialLimits limits;
  limits.wall_s = 3600.0;
  OutputTail output;
  output.feed("Traceback\nKeyError\n");
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const Outcome outcome = job_outcome(each.state, each.requested, limits, output);
    EXPECT_EQ(to_text(outcome.kind), to_text(each.kind));
    EXPECT_THAT(outcome.detail, HasSubstr(each.detail));
  }
}

TEST(TurnOutcome, ASilentTrialHungIfTheShellOrTheJobEndedIt) {
  const auto kind = [](const TurnEnd& end, std::optional<StopCause> requested) {
    return turn_outcome(end, 60.0, requested, {}, {}).kind;
  };
  const TurnEnd by_shell{0.0, 143, TurnLimit::silence};
  EXPECT_EQ(kind(by_shell, {}), OutcomeKind::hung);
  EXPECT_EQ(kind(by_shell, StopCause::caller), OutcomeKind::hung);
  const TurnEnd with_its_job{0.0, 143};
  EXPECT_EQ(kind(with_its_job, StopCause::no_output), OutcomeKind::hung);
  EXPECT_EQ(kind(with_its_job, StopCause::caller), OutcomeKind::stopped);
  const TurnEnd by_itself{0.0, 0};
  EXPECT_EQ(kind(by_itself, StopCause::no_output), OutcomeKind::completed);
}

TEST(JobOutcome, ReportsTheExitStatus) {
  EXPECT_EQ(
      job_outcome(state("Failed", {}, "AlgorithmError: x, exit code: 3"), {}, {}, {}).exit_code, 3);
  EXPECT_EQ(job_outcome(state("Failed", {}, "AlgorithmError: x"), {}, {}, {}).exit_code, 1);
  EXPECT_EQ(job_outcome(state("Completed"), {}, {}, {}).exit_code, 0);
}

}  // namespace
}  // namespace steptune
