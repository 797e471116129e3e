// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/job_in_flight.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "trial_runner/sagemaker/failure.hpp"
#include "trial_runner/sagemaker/held_machines.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_told_lines = 5;

/// The exit status that a FailureReason tells (`..., exit code: 3`), or 1.
int exit_code_of(std::string_view reason) {
  constexpr std::string_view k_mark = "exit code: ";
  const auto found = reason.rfind(k_mark);
  int code = 1;
  if (found != std::string_view::npos) {
    reason.remove_prefix(found + k_mark.size());
    std::from_chars(reason.data(), reason.data() + reason.size(), code);
  }
  return code;
}

OutcomeKind kind_of(JobFailure failure) {
  switch (failure) {
    case JobFailure::host_memory:
    case JobFailure::device_memory:
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

}  // namespace

void JobInFlight::tell_start(double time_s, std::vector<TrialEvent>& events) {
  if (started_s) return;
  started_s = time_s;
  last_output_s = time_s;
  std::map<std::string, std::string> placement{{"job", job}};
  placement["instances"] = to_text(spec.resources);
  placement["start"] = pool_job ? "warm" : "cold";
  events.emplace_back(TrialStarted{spec.key, time_s, job, std::move(placement)});
}

void JobInFlight::read_line(double time_s, const LogLine& line, std::vector<TrialEvent>& events) {
  tell_start(time_s, events);
  last_output_s = std::max(last_output_s, time_s);
  for (const std::string_view part : {std::string_view(line.text), std::string_view("\n")}) {
    log.write(part);
    tail.feed(part);
  }
  auto reader = reports.find(line.host);
  if (reader == reports.end()) {
    auto created = ReportReader::create(spec.report_format);
    if (!created) return;
    reader = reports.emplace(line.host, *std::move(created)).first;
  }
  auto report = reader->second.read_line(line.text, std::max(time_s, *started_s));
  if (!report) return;
  if (reporting_host.empty()) reporting_host = line.host;
  if (reporting_host == line.host) {
    events.emplace_back(TrialReported{spec.key, *std::move(report)});
  }
}

void JobInFlight::add_bill(double billable_s) {
  billed_s += billable_s;
  billed_usd += billable_s * usd_per_hour / 3600.0;
}

Outcome JobInFlight::outcome_of(const JobState& state) const {
  Outcome outcome;
  if (state.status == "Completed") return outcome;
  if (state.status == "Stopped") {
    if (state.secondary == "MaxRuntimeExceeded") {
      outcome.kind = OutcomeKind::timed_out;
      outcome.detail =
          fmt::format("it ran longer than its limit of {}", format_duration(spec.limits.wall_s));
    } else if (state.secondary == "MaxWaitTimeExceeded") {
      outcome.kind = OutcomeKind::not_started;
      outcome.detail = "spot capacity did not come, or was taken away, within \"max_wait\"";
    } else if (end_request == JobEndRequest::idle) {
      outcome.kind = OutcomeKind::hung;
      outcome.detail = fmt::format("no output for {}", format_duration(spec.limits.idle_s));
    } else {
      outcome.kind = OutcomeKind::stopped;
      if (end_request == JobEndRequest::none) outcome.detail = "stopped by somebody else";
    }
    return outcome;
  }
  const JobFailure failure = classify_failure(state.failure_reason);
  outcome.kind = kind_of(failure);
  outcome.exit_code = exit_code_of(state.failure_reason);
  outcome.detail = fmt::format("{}: {}", to_text(failure), printable_line(state.failure_reason));
  const auto lines = tail.last_lines(k_told_lines);
  if (!lines.empty())
    outcome.detail += fmt::format("; its last output: {}", fmt::join(lines, " | "));
  // A program that was asked to end may do so with any exit status.
  if (end_request == JobEndRequest::stop && outcome.kind == OutcomeKind::failed) {
    outcome.kind = OutcomeKind::stopped;
  }
  return outcome;
}

TrialFinished JobInFlight::finish(double time_s, Outcome outcome) {
  log.finish();
  outcome.duration_s = started_s ? std::max(0.0, time_s - *started_s) : 0.0;
  outcome.billed_s = billed_s;
  outcome.billed_usd = billed_usd;
  return TrialFinished{spec.key, time_s, std::move(outcome)};
}

}  // namespace steptune
