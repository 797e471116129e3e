// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/running_trial.hpp"

#include <algorithm>
#include <utility>

#include "common/numbers.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/measure/progress_trace.hpp"
#include "tuner/loop/baseline_comparison.hpp"
#include "tuner/loop/decision_log.hpp"
#include "tuner/loop/enough_measured.hpp"
#include "tuner/loop/guards.hpp"
#include "tuner/loop/observations.hpp"
#include "tuner/loop/time_limits.hpp"
#include "tuner/loop/trial_end.hpp"
#include "tuner/study/unit_name.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {
namespace {

/// Drops the oldest event if there are too many: the latest events show how the trial ended.
template <typename Event>
void keep_latest(std::vector<Event>& events) {
  if (events.size() > k_most_trace_events) events.erase(events.begin());
}

}  // namespace

RunningTrial::RunningTrial(const StudySpec& study, TrialRecord record, double now_s,
                           TrialTargets targets)
    : study_(&study),
      targets_(std::move(targets)),
      record_(std::move(record)),
      reports_(study, record_.configuration, targets_, now_s, 0.0),
      early_stopping_(scheduler_options(study)),
      usd_per_hour_(usd_per_hour(study, record_.configuration)),
      usd_per_billed_s_(usage_usd(on_demand_usd_per_hour(study, record_.configuration), 1.0)) {}

void RunningTrial::started(const TrialStarted& event) {
  record_.status = TrialStatus::running;
  record_.token = event.token;
  record_.placement = event.placement;
  record_.disturbed_s = 0.0;
  reports_ =
      TrialReports(*study_, record_.configuration, targets_, event.time_s, event.program_startup_s);
  disturbed_.clear();
  decisions_.clear();
  forget_estimates();
}

bool RunningTrial::reported(const Report& report) {
  const bool starts_again = reports_.add(report);
  if (starts_again) forget_estimates();
  return starts_again;
}

void RunningTrial::forget_estimates() {
  early_stopping_ = EarlyStopping(scheduler_options(*study_));
  steps_seen_by_scheduler_.reset();
}

void RunningTrial::disturbed(const TrialDisturbed& event) {
  // CPUs and GPUs may be disturbed at the same time.
  record_.disturbed_s += std::max(0.0, event.to_s - std::max(event.from_s, disturbed_until_s_));
  disturbed_until_s_ = std::max(disturbed_until_s_, event.to_s);
  disturbed_.push_back({event.from_s - started_s(), event.to_s - started_s(), event.disturbance});
  keep_latest(disturbed_);
}

bool RunningTrial::paused(const TrialPaused& event) {
  reports_.paused(event);
  return event.prints_while_paused &&
         ask_for_end({EndRequest::interleaved,
                      "it prints while it is stopped, so a part of it runs elsewhere"});
}

bool RunningTrial::ask_for_end(TrialEndCause cause) {
  if (cause_.request != EndRequest::none) return false;
  cause_ = std::move(cause);
  return true;
}

std::optional<std::string> RunningTrial::given_up(const TrialView& trial, Scheduler& scheduler,
                                                  Searcher& searcher) {
  const double resource = measurement().window_steps;
  if (!is_compared(record_.purpose)) return std::nullopt;
  // The trial's time without the effect of other programs is known only at the end of its round.
  if (targets_.interleaved_round > 0) return std::nullopt;
  if (steps_seen_by_scheduler_ && resource <= *steps_seen_by_scheduler_) return std::nullopt;
  const auto objectives = objectives_so_far(trial);
  // Until the batch size is shown to be applied, the value may be too good for any real
  // configuration.
  if (!objectives || unlike_batch(trial, measurement())) return std::nullopt;
  steps_seen_by_scheduler_ = resource;
  const TrialEstimate estimate = estimate_so_far(trial, *objectives);
  // A configuration with fewer changes can only tie with the best, so a scheduler would stop it.
  if (!is_searched(record_.purpose) || record_.origin == k_fewest_changes) {
    early_stopping_.record(estimate);
    scheduler.on_exempt(estimate);
    return std::nullopt;
  }
  StopDecision decision =
      early_stopping_.decide(estimate, record_.configuration, scheduler, searcher);
  log_scheduled(estimate, decision);
  decisions_.push_back({reports_.reported_s() - started_s(), estimate.resource, decision.stop,
                        estimate.values, estimate.half_widths, decision.reason});
  keep_latest(decisions_);
  if (!decision.stop) return std::nullopt;
  return std::move(decision.reason);
}

std::optional<std::string> RunningTrial::settled_difference() const {
  if (reports_.hook().empty() || !(measurement().window_steps >= k_least_observed_steps)) {
    return std::nullopt;
  }
  return why_not_applied(reports_.hook(), knob_values(*study_, record_.configuration));
}

bool RunningTrial::wants_to_end(Scheduler& scheduler, Searcher& searcher,
                                const TrialRecord* baseline) {
  if (cause_.request != EndRequest::none) return false;
  if (auto difference = settled_difference()) {
    return ask_for_end({EndRequest::unlike, *std::move(difference)});
  }
  if (is_searched(record_.purpose)) {
    auto violated = violated_guard(study_->guards, reports_.guards().settled(), std::nullopt,
                                   baseline, GuardMoment::running, unit_name(*study_));
    if (violated) return ask_for_end({EndRequest::guard, *std::move(violated)});
  }
  const TrialView trial = view(baseline);
  auto reason = given_up(trial, scheduler, searcher);
  TrialEndCause cause;
  if (is_measured_enough(trial)) {
    cause.request = EndRequest::measured;
  } else if (is_clearly_slower(trial)) {
    cause.request = EndRequest::slower;
  } else if (reason) {
    cause.request = EndRequest::scheduler;
    cause.reason = *std::move(reason);
  } else {
    return false;
  }
  // Exclude the program's work while it ends, such as a last checkpoint.
  cause.measured = measurement();
  return ask_for_end(std::move(cause));
}

bool RunningTrial::has_limits() const {
  // Before the start, the runner waits for machines or for their price, so no time limit applies.
  return cause_.request == EndRequest::none && record_.status == TrialStatus::running;
}

double RunningTrial::deadline_s() const {
  return has_limits() ? next_limit_s(view()) : k_infinity;
}

bool RunningTrial::out_of_time(double now_s) {
  if (!has_limits()) return false;
  auto cause = reached_limit(view(), now_s);
  if (!cause) return false;
  if (cause->request == EndRequest::budget && is_measured_too_little()) {
    cause->request = EndRequest::no_time;
  }
  return ask_for_end(*std::move(cause));
}

bool RunningTrial::is_measured_too_little() const {
  // The baseline is not repeated: without a baseline, the study cannot continue.
  if (record_.purpose == TrialPurpose::baseline) return false;
  const MeasurementStatus seen = measurement().status;
  return seen == MeasurementStatus::no_reports || seen == MeasurementStatus::warming_up ||
         (is_searched(record_.purpose) && awaits_guard(view()));
}

TrialTrace RunningTrial::trace(const std::optional<Measurement>& measured) const {
  const double program_startup_s = reports_.program_startup_s();
  std::vector<double> kept_s;
  if (measured) {
    kept_s = {measured->window_begin_s() - program_startup_s,
              measured->window_end_s() - program_startup_s};
  }
  return {reports_.trace(kept_s), disturbed_, decisions_, program_startup_s, machine_};
}

TrialRecord RunningTrial::finished(const Outcome& outcome, const TrialRecord* baseline,
                                   double wall_time_s, std::span<const Interval> beside) {
  const TrialView trial = view(baseline);
  cause_ = settled_cause(std::move(cause_), outcome, trial);
  machine_ = thinned(outcome.machine, k_most_trace_points);
  TrialRecord ended = ended_record(trial, cause_, outcome, machine_, beside);
  ended.ended_wall_s = wall_time_s;
  if (is_final(ended.status)) {
    const auto milestones = early_stopping_.milestones();
    ended.milestones.assign(milestones.begin(), milestones.end());
    const auto rungs = early_stopping_.rungs();
    ended.rungs.assign(rungs.begin(), rungs.end());
  }
  return ended;
}

}  // namespace steptune
