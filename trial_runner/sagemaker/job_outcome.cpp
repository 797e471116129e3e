// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/job_outcome.hpp"

#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/clauses.hpp"
#include "common/text.hpp"
#include "trial_runner/output/out_of_memory.hpp"
#include "trial_runner/output/waiting_ranks.hpp"
#include "trial_runner/sagemaker/failure.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_quoted_lines = 5;

/// Returns the exit status in a FailureReason (`..., exit code: 3`), or 1.
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

Outcome timed_out(const TrialLimits& limits) {
  return {.kind = OutcomeKind::timed_out,
          .detail = fmt::format("ran longer than the limit of {}", format_duration(limits.wall_s))};
}

Outcome hung(const TrialLimits& limits) {
  return {.kind = OutcomeKind::hung,
          .detail = fmt::format("no output for {}", format_duration(limits.idle_s))};
}

Outcome stopped_outcome(const JobDescription& state, std::optional<StopReason> requested,
                        const TrialLimits& limits) {
  if (state.secondary == "MaxRuntimeExceeded") return timed_out(limits);
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  if (state.secondary == "MaxWaitTimeExceeded") {
    outcome.kind = OutcomeKind::not_started;
    outcome.detail = "no spot capacity, or not for long enough, within \"max_wait\"";
  } else if (requested == StopReason::no_output) {
    return hung(limits);
  } else if (!requested) {
    outcome.detail = "the job was stopped from outside Steptune";
  }
  return outcome;
}

/// Returns the outcome of a failed job. `reason` is a FailureReason. A user's container may report
/// only an exit status, so the output is examined, too.
Outcome failed_outcome(const std::string& reason, std::optional<StopReason> requested,
                       const OutputTail& output) {
  JobFailure failure = classify_failure(reason);
  if (failure == JobFailure::user_code && ended_out_of_memory(output)) {
    failure = JobFailure::out_of_memory;
  }
  Outcome outcome;
  outcome.kind = kind_of(failure);
  outcome.exit_code = exit_code_of(reason);
  outcome.detail = fmt::format("{}: {}", to_text(failure), printable_line(reason));
  if (const auto last_lines = output.last_lines(k_quoted_lines); !last_lines.empty()) {
    outcome.detail += fmt::format("; its last output: {}", fmt::join(last_lines, " | "));
  }
  // A program may respond to a request to end with any exit status.
  if (requested == StopReason::caller && outcome.kind == OutcomeKind::failed) {
    outcome.kind = OutcomeKind::stopped;
  }
  if (outcome.kind == OutcomeKind::failed && ended_with_waiting_ranks(output)) {
    outcome.kind = OutcomeKind::hung;
    add_clause(outcome.detail, k_ranks_waited_text);
  }
  return outcome;
}

}  // namespace

Outcome job_outcome(const JobDescription& state, std::optional<StopReason> requested,
                    const TrialLimits& limits, const OutputTail& output) {
  if (state.status == "Completed") return {};
  if (state.status == "Stopped") return stopped_outcome(state, requested, limits);
  return failed_outcome(state.failure_reason, requested, output);
}

bool lacked_capacity(const JobDescription& state) {
  return state.status == "Failed" && classify_failure(state.failure_reason) == JobFailure::capacity;
}

Outcome turn_outcome(const TurnEnd& end, double given_s, std::optional<StopReason> requested,
                     const TrialLimits& limits, const OutputTail& output) {
  // The silence was detected by the shell, or by the runner, which then stopped the job.
  const bool ended_well = !end.limit && end.exit_code == 0;
  if (end.limit == TurnLimit::silence || (requested == StopReason::no_output && !ended_well)) {
    return hung(limits);
  }
  if (end.limit == TurnLimit::time && given_s >= limits.wall_s) return timed_out(limits);
  Outcome outcome;
  if (end.limit || requested == StopReason::caller) {
    outcome.kind = OutcomeKind::stopped;
    outcome.had_enough = !requested;
    outcome.was_slow = outcome.had_enough && end.limit == TurnLimit::slowness;
    return outcome;
  }
  if (end.exit_code == 0) return outcome;
  return failed_outcome(fmt::format("exit code: {}", end.exit_code), requested, output);
}

}  // namespace steptune
