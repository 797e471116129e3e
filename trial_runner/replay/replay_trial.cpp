// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/replay/replay_trial.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/exit_status.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "trial_runner/trial_name.hpp"

namespace steptune {
namespace {

/// Scatter of the start-up time, as a share of it.
constexpr double k_startup_noise = 0.02;

}  // namespace

ReplayTrial::ReplayTrial(Plan plan)
    : plan_(std::move(plan)),
      rng_(plan_.seed, fmt::format("replay attempt {}", plan_.spec.key.attempt),
           static_cast<std::uint64_t>(plan_.spec.key.trial)) {
  const double startup_s = plan_.startup_s * std::max(0.5, 1.0 + k_startup_noise * rng_.normal());
  first_step_s_ = plan_.started_s + startup_s;
  report_s_ = first_step_s_;
  next_s_ = plan_.started_s;
  const TrialLimits& limits = plan_.spec.limits;
  consider(plan_.started_s + limits.wall_s, OutcomeKind::timed_out, k_sigkill_status,
           fmt::format("still running after {}, the wall limit", format_duration(limits.wall_s)));
  if (!plan_.behaviour) {
    consider(first_step_s_, OutcomeKind::failed, 1, plan_.behaviour.error());
    return;
  }
  step_times_.emplace(plan_.noise, rng_);
  if (plan_.end && plan_.end->kind != OutcomeKind::hung) {
    consider(first_step_s_ + plan_.end->after_s, plan_.end->kind, plan_.end->exit_code,
             plan_.end->detail);
  }
}

void ReplayTrial::consider(double time_s, OutcomeKind kind, int exit_code, std::string detail) {
  if (has_ended_ || (end_ && end_->time_s <= time_s)) return;
  const double duration_s = time_s - plan_.started_s;
  end_ = End{time_s,
             {.kind = kind,
              .exit_code = exit_code,
              .detail = std::move(detail),
              .duration_s = duration_s,
              .billed_s = duration_s}};
  if (start_is_reported_) next_s_ = std::min(report_s_, end_->time_s);
}

void ReplayTrial::stop(double time_s) {
  consider(time_s, OutcomeKind::stopped, k_sigterm_status, "stopped");
}

void ReplayTrial::plan_next_report() {
  const double former_s = report_s_;
  report_s_ = k_infinity;
  if (!plan_.behaviour) return;
  const double step_s = plan_.behaviour->seconds_per_sample * plan_.behaviour->samples_per_step;
  const double elapsed_s = former_s - first_step_s_;
  double more = std::max(1.0, std::floor(elapsed_s * plan_.report_growth / step_s));
  const bool last = plan_.steps && steps_ + more >= *plan_.steps;
  if (last) more = *plan_.steps - steps_;
  if (more <= 0.0) return;
  const double time_s = former_s + step_s * step_times_->take(more, rng_);
  const double silent_since_s = has_reported_ ? former_s : plan_.started_s;
  const TrialLimits& limits = plan_.spec.limits;
  const bool hangs = plan_.end && plan_.end->kind == OutcomeKind::hung &&
                     time_s > first_step_s_ + plan_.end->after_s;
  if (hangs || time_s - silent_since_s > limits.idle_s) {
    consider(silent_since_s + limits.idle_s, OutcomeKind::hung, k_sigkill_status,
             fmt::format("no output for {}, the idle limit", format_duration(limits.idle_s)));
    return;
  }
  steps_ += more;
  report_s_ = time_s;
  if (last) consider(time_s, OutcomeKind::completed, 0, {});
}

Report ReplayTrial::report() const {
  Report report;
  report.received_s = report_s_;
  report.clock_s = report_s_ - plan_.started_s;
  report.step = steps_;
  report.samples = steps_ * plan_.behaviour->samples_per_step;
  report.metrics = plan_.behaviour->metrics;
  for (const auto& [part, seconds] : plan_.behaviour->parts) {
    report.parts[part] = seconds * *report.samples;
  }
  return report;
}

TrialEvent ReplayTrial::next() {
  if (!start_is_reported_) {
    start_is_reported_ = true;
    plan_next_report();
    next_s_ = std::min(report_s_, end_->time_s);
    return TrialStarted{key(), plan_.started_s, "replay:" + trial_name(key()), {}};
  }
  // If the trial completes at its last step, report that step first.
  if (report_s_ <= end_->time_s) {
    TrialReported reported{key(), report()};
    has_reported_ = true;
    plan_next_report();
    next_s_ = std::min(report_s_, end_->time_s);
    return reported;
  }
  has_ended_ = true;
  next_s_ = k_infinity;
  return TrialFinished{key(), end_->time_s, end_->outcome};
}

}  // namespace steptune
