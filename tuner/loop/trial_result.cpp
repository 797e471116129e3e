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
TrialResult measured_result(const TrialEnding& ending) {
  if (ending.not_applied) return {TrialStatus::infeasible, *ending.not_applied};
  if (ending.request == EndRequest::scheduler && !ending.violated) {
    if (ending.missing) return {TrialStatus::failed, *ending.missing};
    return {TrialStatus::stopped_early, ending.request_reason};
  }
  if (ending.request == EndRequest::silent) {
    return {TrialStatus::failed, ending.request_reason};
  }
  if (ending.request == EndRequest::slow_start) {
    return {TrialStatus::infeasible, ending.request_reason};
  }
  if (ending.request == EndRequest::guard && ending.violated) {
    return {TrialStatus::infeasible, *ending.violated};
  }
  if (ending.missing) {
    const bool by_itself = ending.request == EndRequest::none;
    const std::string limit =
        ending.request_reason.empty() ? "within \"max_trial\"" : "before " + ending.request_reason;
    return {TrialStatus::failed, fmt::format("{}: {}",
                                             by_itself ? "ended before it could be measured"
                                                       : "could not be measured " + limit,
                                             *ending.missing)};
  }
  if (ending.slow) return {TrialStatus::stopped_early, *ending.slow};
  if (ending.violated) return {TrialStatus::infeasible, *ending.violated};
  return {TrialStatus::completed, ""};
}

}  // namespace

TrialResult trial_result(const TrialEnding& ending) {
  if (ending.request == EndRequest::interleaved) {
    return {TrialStatus::interrupted, with_detail(ending.request_reason, ending.detail)};
  }
  switch (ending.outcome) {
    case OutcomeKind::out_of_memory:
      return {TrialStatus::out_of_memory, with_detail("out of memory", ending.detail)};
    case OutcomeKind::not_started:
      return {TrialStatus::failed, with_detail("could not be started", ending.detail)};
    case OutcomeKind::completed:
      if (interrupts(ending.request) && ending.missing) return interrupted(ending.request);
      return measured_result(ending);
    default:
      break;
  }
  if (interrupts(ending.request)) return interrupted(ending.request);
  if (ending.request != EndRequest::none) return measured_result(ending);
  if (ending.given_up) return {TrialStatus::infeasible, *ending.given_up};
  switch (ending.outcome) {
    case OutcomeKind::timed_out:
      return {TrialStatus::failed, with_detail("time limit", ending.detail)};
    case OutcomeKind::hung:
      return {TrialStatus::failed, with_detail("hung", ending.detail)};
    case OutcomeKind::lost:
      return {TrialStatus::interrupted, with_detail("lost", ending.detail)};
    case OutcomeKind::stopped:
      return {TrialStatus::interrupted, with_detail("stopped from outside", ending.detail)};
    default:
      return {TrialStatus::failed, ending.detail.empty() ? "failed" : ending.detail};
  }
}

}  // namespace steptune
