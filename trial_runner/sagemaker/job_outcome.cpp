// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/job_outcome.hpp"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "common/clauses.hpp"
#include "common/text.hpp"
#include "trial_runner/output/out_of_memory.hpp"
#include "trial_runner/output/waiting_ranks.hpp"
#include "trial_runner/sagemaker/failure.hpp"

namespace steptune {
namespace {

/// Returns the exit status in a FailureReason (`..., exit code: 3`); 1 without a status.
int exit_code_of(std::string_view reason) {
  constexpr std::string_view k_label = "exit code: ";
  const auto found = reason.rfind(k_label);
  int code = 1;
  if (found != std::string_view::npos) {
    reason.remove_prefix(found + k_label.size());
    std::from_chars(reason.data(), reason.data() + reason.size(), code);
  }
  return code;
}

OutcomeKind kind_of(JobFailure failure) {
  switch (failure) {
    case JobFailure::out_of_memory:
      return OutcomeKind::out_of_memory;
    case JobFailure::capacity:
      return OutcomeKind::not_started;
    case JobFailure::internal:
      return OutcomeKind::lost;
    case JobFailure::user_code:
      break;
  }
  return OutcomeKind::failed;
}

Outcome outcome_of_stop(const JobDescription& state, std::optional<StopCause> requested,
                        const TrialLimits& limits) {
  if (state.secondary == "MaxRuntimeExceeded")
    return stopped_outcome(StopCause::wall_limit, limits);
  if (state.secondary == "MaxWaitTimeExceeded") {
    return {.kind = OutcomeKind::not_started,
            .detail = "no spot capacity, or not for long enough, within \"max_wait\""};
  }
  if (requested) return stopped_outcome(*requested, limits);
  return {.kind = OutcomeKind::stopped, .detail = "the job was stopped from outside Steptune"};
}

/// Returns the outcome of a failed job. `reason` is a FailureReason. The reason may contain only an
/// exit status, so also examines the output.
Outcome failed_outcome(const std::string& reason, std::optional<StopCause> requested,
                       const OutputTail& output) {
  JobFailure failure = classify_failure(reason);
  if (failure == JobFailure::user_code && ended_out_of_memory(output)) {
    failure = JobFailure::out_of_memory;
  }
  Outcome outcome;
  outcome.kind = kind_of(failure);
  outcome.exit_code = exit_code_of(reason);
  outcome.detail = fmt::format("{}: {}", to_text(failure), printable_line(reason));
  add_last_output(outcome.detail, output.last_lines(k_explaining_lines));
  // A stopped program may end with any exit status.
  if (requested == StopCause::caller && outcome.kind == OutcomeKind::failed) {
    outcome.kind = OutcomeKind::stopped;
  }
  if (outcome.kind == OutcomeKind::failed && ended_with_waiting_ranks(output)) {
    outcome.kind = OutcomeKind::hung;
    add_clause(outcome.detail, k_ranks_waited_text);
  }
  return outcome;
}

}  // namespace

Outcome job_outcome(const JobDescription& state, std::optional<StopCause> requested,
                    const TrialLimits& limits, const OutputTail& output) {
  if (state.status == "Completed") return {};
  if (state.status == "Stopped") return outcome_of_stop(state, requested, limits);
  return failed_outcome(state.failure_reason, requested, output);
}

bool lacked_capacity(const JobDescription& state) {
  return state.status == "Failed" && classify_failure(state.failure_reason) == JobFailure::capacity;
}

Outcome turn_outcome(const TurnEnd& end, double given_s, std::optional<StopCause> requested,
                     const TrialLimits& limits, const OutputTail& output) {
  // The shell reports silence as a limit. If the runner detects silence first, it stops the job.
  const bool ended_well = !end.limit && end.exit_code == 0;
  if (end.limit == TurnLimit::silence || (requested == StopCause::no_output && !ended_well)) {
    return stopped_outcome(StopCause::no_output, limits);
  }
  if (end.limit == TurnLimit::time && given_s >= limits.wall_s)
    return stopped_outcome(StopCause::wall_limit, limits);
  Outcome outcome;
  if (end.limit || requested == StopCause::caller) {
    outcome.kind = OutcomeKind::stopped;
    outcome.had_enough = !requested;
    outcome.was_slow = outcome.had_enough && end.limit == TurnLimit::slowness;
    return outcome;
  }
  if (end.exit_code == 0) return outcome;
  return failed_outcome(fmt::format("exit code: {}", end.exit_code), requested, output);
}

}  // namespace steptune
