// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_result.hpp"

#include <fmt/format.h>

namespace steptune {
namespace {

std::string with_detail(std::string_view what, const std::string& detail) {
  return detail.empty() ? std::string(what) : fmt::format("{}: {}", what, detail);
}

TrialResult interrupted(EndRequest request) {
  const char* why = request == EndRequest::user ? "stopped by the user"
                    : request == EndRequest::no_machine
                        ? "it was still waiting for machines when the tuning time was over"
                        : "it had not run for long enough when the tuning time was over";
  return {TrialStatus::interrupted, why};
}

/// Judges a trial by its measurement. Call this for a trial whose program did not fail.
TrialResult measured_result(const TrialEndCause& cause, const TrialFindings& findings) {
  if (findings.not_applied) return {TrialStatus::infeasible, *findings.not_applied};
  if (cause.request == EndRequest::scheduler && !findings.violated) {
    if (findings.missing) return {TrialStatus::failed, *findings.missing};
    return {TrialStatus::stopped_early, cause.reason};
  }
  if (cause.request == EndRequest::silent) {
    return {TrialStatus::failed, cause.reason};
  }
  if (cause.request == EndRequest::slow_start) {
    return {TrialStatus::infeasible, cause.reason};
  }
  if (cause.request == EndRequest::guard && findings.violated) {
    return {TrialStatus::infeasible, *findings.violated};
  }
  if (findings.missing) {
    const bool by_itself = cause.request == EndRequest::none;
    const std::string limit =
        cause.reason.empty() ? "within \"max_trial\"" : "before " + cause.reason;
    return {TrialStatus::failed, fmt::format("{}: {}",
                                             by_itself ? "ended before it could be measured"
                                                       : "could not be measured " + limit,
                                             *findings.missing)};
  }
  if (findings.slow) return {TrialStatus::stopped_early, *findings.slow};
  if (findings.violated) return {TrialStatus::infeasible, *findings.violated};
  return {TrialStatus::completed, ""};
}

}  // namespace

TrialResult trial_result(OutcomeKind outcome, const TrialEndCause& cause,
                         const TrialFindings& findings) {
  if (cause.request == EndRequest::interleaved) {
    return {TrialStatus::interrupted, with_detail(cause.reason, findings.detail)};
  }
  switch (outcome) {
    case OutcomeKind::out_of_memory:
      return {TrialStatus::out_of_memory, with_detail("out of memory", findings.detail)};
    case OutcomeKind::not_started:
      return {TrialStatus::failed, with_detail("could not be started", findings.detail)};
    case OutcomeKind::completed:
      if (interrupts(cause.request) && findings.missing) return interrupted(cause.request);
      return measured_result(cause, findings);
    default:
      break;
  }
  if (interrupts(cause.request)) return interrupted(cause.request);
  if (cause.request != EndRequest::none) return measured_result(cause, findings);
  if (findings.given_up) return {TrialStatus::infeasible, *findings.given_up};
  switch (outcome) {
    case OutcomeKind::timed_out:
      return {TrialStatus::failed, with_detail("time limit", findings.detail)};
    case OutcomeKind::hung:
      return {TrialStatus::failed, with_detail("hung", findings.detail)};
    case OutcomeKind::lost:
      return {TrialStatus::interrupted, with_detail("lost", findings.detail)};
    case OutcomeKind::stopped:
      return {TrialStatus::interrupted, with_detail("stopped from outside", findings.detail)};
    default:
      return {TrialStatus::failed, findings.detail.empty() ? "failed" : findings.detail};
  }
}

}  // namespace steptune
