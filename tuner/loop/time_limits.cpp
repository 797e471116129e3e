// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/time_limits.hpp"

#include <algorithm>

#include "common/numbers.hpp"
#include "tuner/loop/enough_measured.hpp"
#include "tuner/loop/spending.hpp"

namespace steptune {
namespace {

/// Silence limit during training, as a multiple of the start-up limit.
constexpr double k_silence_per_start = 2.0;

/// Share of `limits.wall` after which the loop ends a trial that reports, to keep its measurement.
constexpr double k_share_of_wall = 0.95;

/// Returns the deadline for the trial's first step. `budget_end_s`: end of its part of the budget.
double start_limit_s(const TrialView& trial, double budget_end_s) {
  // A single report shows no rate, but it shows that the program has started.
  if (trial.reports.has_reported_progress()) return k_infinity;
  const double limit_s = trial.reports.started_s() + trial.targets.longest_start_s;
  // If each configuration is confirmed, the study must record which ones were too slow to start. So
  // the end of the budget counts as a limit of the start, too.
  const bool is_needed = trial.study.measure.confirm_all && !is_confirmation(trial.record.purpose);
  return is_needed ? std::min(limit_s, budget_end_s) : limit_s;
}

/// Returns when a search trial without further progress counts as hung; infinite if time is not
/// limited.
double silence_limit_s(const TrialView& trial) {
  const TrialTargets& targets = trial.targets;
  if (!is_searched(trial.record.purpose) || !(targets.longest_trial_s > 0.0) ||
      trial.reports.in_phase() || !trial.reports.has_reported_progress()) {
    return k_infinity;
  }
  return trial.reports.progressed_s() +
         std::max(targets.longest_trial_s, k_silence_per_start * targets.longest_start_s);
}

/// Returns the longest time after start-up for a trial that was found to have no steady state;
/// infinite for other trials. The baseline gets more time, because a study cannot continue without
/// it. It gets at most half of the time budget, because other trials need time, too.
double longest_without_steady_state_s(const TrialView& trial) {
  const double share_s = trial.targets.share_of_budget_s;
  const auto& budget_s = trial.study.budget.time_s;
  const bool is_found = trial.measurement().status == MeasurementStatus::not_steady;
  if (!is_found || !is_compared(trial.record.purpose) || !budget_s) return k_infinity;
  if (trial.record.purpose != TrialPurpose::baseline) return share_s;
  return std::max(share_s, std::min(k_longer_window * share_s, 0.5 * *budget_s));
}

/// Returns when measuring must end, apart from the end of the budget.
double measuring_limit_s(const TrialView& trial) {
  const Measurement& current = trial.measurement();
  const MeasureSpec& measure = trial.targets.measure;
  const double started_s = trial.reports.started_s();
  const double last_s = before_wall_s(trial);
  if (current.status == MeasurementStatus::no_reports) {
    return std::min(started_s + trial.study.limits.idle_s + measure.max_trial_s, last_s);
  }
  // The baseline may use all its time for a guard, because other trials are compared with it.
  if (trial.record.purpose == TrialPurpose::baseline &&
      trial.reports.guards().awaits_samples(current.total_samples)) {
    return last_s;
  }
  const bool will_do = current.status == MeasurementStatus::steady &&
                       current.window_steps >= k_least_observed_steps && !may_be_buffered(trial);
  const double most_s = (trial.takes_turns() ? k_with_turns : 1.0) * measure.max_trial_s;
  const double without_guard_s =
      will_do ? trial.targets.share_of_budget_s : longest_without_steady_state_s(trial);
  const double longest_s = awaits_guard(trial) ? most_s : std::min(most_s, without_guard_s);
  // Leave out the start-up of a shared program, which had started before this trial began.
  const double startup_s = current.startup_s - trial.reports.program_startup_s();
  return std::min(started_s + std::max(0.0, startup_s) + longest_s, last_s);
}

/// Times at which the limits of a trial are reached; infinite if there is no such limit.
struct Limits {
  double budget_s;  ///< loop's clock
  // Loop's clock without pauses.
  double start_s;
  double silence_s;
  double measuring_s;
};

Limits limits_of(const TrialView& trial) {
  const double budget_s =
      std::max(trial.targets.budget_end_s, trial.reports.started_s() + trial.targets.least_s);
  return {budget_s, start_limit_s(trial, budget_s), silence_limit_s(trial),
          measuring_limit_s(trial)};
}

/// Returns when the first of the limits is reached, on the loop's clock.
double first_s(const Limits& limits, const TrialReports& reports) {
  if (reports.is_paused()) return limits.budget_s;
  const double unpaused_s = std::min({limits.start_s, limits.silence_s, limits.measuring_s});
  return std::min(unpaused_s + reports.paused_s(), limits.budget_s);
}

}  // namespace

double before_wall_s(const TrialView& trial) {
  // If a trial has reported nothing, there is nothing to save.
  if (!trial.reports.progress().has_begun()) return k_infinity;
  return trial.reports.started_s() + k_share_of_wall * trial.study.limits.wall_s;
}

double next_limit_s(const TrialView& trial) {
  return first_s(limits_of(trial), trial.reports);
}

std::optional<TrialEndCause> reached_limit(const TrialView& trial, double now_s) {
  const TrialReports& reports = trial.reports;
  const Limits limits = limits_of(trial);
  if (now_s < first_s(limits, reports)) return std::nullopt;
  const double at_s = reports.without_pauses_s(now_s);
  if (at_s >= limits.start_s) {
    return TrialEndCause{
        .request = EndRequest::slow_start, .at_s = at_s, .waited_s = at_s - reports.started_s()};
  }
  // Both limits may be over if the tuner was suspended. Then the earlier limit counts.
  if (at_s >= limits.silence_s && limits.silence_s < limits.measuring_s) {
    return TrialEndCause{
        .request = EndRequest::silent, .at_s = at_s, .waited_s = at_s - reports.progressed_s()};
  }
  const bool is_before_budget = limits.measuring_s + reports.paused_s() <= limits.budget_s;
  const bool is_measuring = at_s >= limits.measuring_s && is_before_budget;
  return TrialEndCause{.request = is_measuring ? EndRequest::time_limit : EndRequest::budget,
                       .at_s = at_s};
}

}  // namespace steptune
