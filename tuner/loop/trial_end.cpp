// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_end.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "common/clauses.hpp"
#include "common/numbers.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "tuner/loop/baseline_comparison.hpp"
#include "tuner/loop/final_measurement.hpp"
#include "tuner/loop/guards.hpp"
#include "tuner/loop/hook_check.hpp"
#include "tuner/loop/progress_bound.hpp"
#include "tuner/loop/trial_result.hpp"
#include "tuner/loop/trial_spec.hpp"
#include "tuner/study/unit_name.hpp"
#include "tuner/verdict/batch_effect.hpp"
#include "tuner/verdict/objectives.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

/// Number of lost launches (machine gone, killed from outside) after which a trial has failed.
constexpr int k_most_lost = 3;

/// Adds the guarded values and their standard errors to the metrics.
void add_guarded(const std::vector<Guard>& guards, const GuardedValues& guarded,
                 Measurement& measurement) {
  for (const Guard& guard : guards) {
    const auto value = guarded.find(judged_metric(guard));
    if (value == guarded.end()) continue;
    measurement.metrics[value->first] = value->second.value;
    if (value->second.standard_error > 0.0) {
      measurement.metric_errors[value->first] = value->second.standard_error;
    }
  }
}

/// Measures and judges a trial that has ended.
class EndOfTrial {
 public:
  /// All arguments outlive the object. Removes the file of the hook's events.
  EndOfTrial(const TrialView& trial, const TrialEndCause& cause, const Outcome& outcome,
             std::span<const Interval> beside)
      : trial_(trial),
        cause_(cause),
        outcome_(outcome),
        guarded_(guarded_values()),
        measurement_(measured(beside)),
        priced_(priced()),
        hook_(check_hook(trial.study, trial.record.configuration, trial.reports.hook(),
                         hook_events_path(trial.record))),
        objectives_(hook_.missing ? tl::unexpected(*hook_.missing)
                                  : objective_values(trial.study, priced_, trial.usd_per_hour,
                                                     trial.baseline_measurement())) {}

  [[nodiscard]] const Measurement& measurement() const { return measurement_; }
  /// Returns the objectives; the error says why there are none.
  [[nodiscard]] const tl::expected<std::vector<MeasuredValue>, std::string>& objectives() const {
    return objectives_;
  }
  /// Returns all findings that decide the trial's result.
  [[nodiscard]] TrialFindings findings() const;

 private:
  /// Returns the values that guards judge.
  [[nodiscard]] GuardedValues guarded_values() const;
  /// Returns the final measurement, with the guarded values among its metrics.
  [[nodiscard]] Measurement measured(std::span<const Interval> beside) const;
  /// Returns the measurement that the objectives are computed from.
  [[nodiscard]] Measurement priced() const;
  /// True if the trial was ended for its speed: by the scheduler, or because it is slow.
  [[nodiscard]] bool was_cut_short() const;
  /// Returns the guard or the memory limit that the trial violated; nullopt if none.
  [[nodiscard]] std::optional<std::string> violation() const;
  /// Returns the deadline or the cost limit that the planned run certainly misses; nullopt if none.
  [[nodiscard]] std::optional<std::string> missed_plan() const;
  /// Returns why too little was measured in the trial's time; nullopt if enough was measured.
  [[nodiscard]] std::optional<std::string> slowness() const;

  const TrialView& trial_;
  const TrialEndCause& cause_;
  const Outcome& outcome_;
  GuardedValues guarded_;
  Measurement measurement_;
  Measurement priced_;
  TrialFindings hook_;  ///< findings about the hook alone
  tl::expected<std::vector<MeasuredValue>, std::string> objectives_;
};

GuardedValues EndOfTrial::guarded_values() const {
  // If a trial was ended for its speed, a guard that the trial did not reach does not reject the
  // trial.
  const GuardWindows& guards = trial_.reports.guards();
  return was_cut_short() ? guards.settled() : guards.all();
}

Measurement EndOfTrial::measured(std::span<const Interval> beside) const {
  Measurement measurement = final_measurement(trial_, cause_, outcome_);
  const Measurement* of_baseline = trial_.baseline_measurement();
  const auto ratio = ratio_in_turns(trial_.reports.turns(), beside);
  if (ratio) measurement.ratio_error = ratio->relative_error;
  // A confirming run is compared with the baseline's run in its own round, not with the study's
  // first run.
  if (ratio && of_baseline != nullptr && is_searched(trial_.record.purpose)) {
    set_time_by_ratio(*ratio, *of_baseline, measurement);
  }
  // If the study gave the samples per step to the hook, the hook only repeats them.
  if (has_given_samples(trial_.reports.hook())) measurement.samples_reported = false;
  add_guarded(trial_.study.guards, guarded_, measurement);
  return measurement;
}

Measurement EndOfTrial::priced() const {
  const bool counts = is_time_limit(cause_.request) || measurement_.whole_run;
  return compared_with_baseline(trial_, counts ? marked_steady(measurement_) : measurement_);
}

TrialFindings EndOfTrial::findings() const {
  TrialFindings findings = hook_;
  findings.detail = outcome_.detail;
  // The missing hook explains why the runner waited for reports without success.
  if (hook_.missing && outcome_.kind == OutcomeKind::hung) {
    add_clause(findings.detail, *hook_.missing);
  }
  if (outcome_.kind == OutcomeKind::hung) {
    add_clause(findings.detail,
               variables_unlike_baseline(trial_.study, trial_.record.configuration));
  }
  if (!findings.not_applied) findings.not_applied = unlike_batch(trial_, measurement_);
  if (!objectives_) findings.missing = objectives_.error();
  findings.slow = slowness();
  findings.violated = violation();
  if (!findings.violated) {
    findings.violated = missed_plan();
    // The planned run certainly misses a limit. That reason counts, not the slow measurement.
    if (findings.violated) findings.slow.reset();
  }
  return findings;
}

std::optional<std::string> EndOfTrial::missed_plan() const {
  // A steady rate suffices to know the planned run's time, even if the trial was short.
  const bool is_known = objectives_ && priced_.status == MeasurementStatus::steady &&
                        is_compared(trial_.record.purpose);
  if (!is_known) return std::nullopt;
  const PlannedRun& plan = trial_.study.planned_run;
  return missed_limit(plan, planned_time(plan, priced_, trial_.baseline_measurement()),
                      trial_.usd_per_hour);
}

bool EndOfTrial::was_cut_short() const {
  return cause_.request == EndRequest::scheduler || cause_.request == EndRequest::slower ||
         outcome_.was_slow;
}

std::optional<std::string> EndOfTrial::violation() const {
  if (cause_.request == EndRequest::guard) return cause_.reason;
  const StudySpec& study = trial_.study;
  const TrialPurpose purpose = trial_.record.purpose;
  const bool is_of_baseline = runs_baseline(purpose);
  // A fresh run may end before it has processed the samples that a guard asks for.
  const bool was_judged_before =
      (is_of_baseline && purpose != TrialPurpose::baseline) || trial_.targets.kept_guards;
  const bool is_unjudged = was_cut_short() || trial_.shares_program();
  const GuardMoment moment = is_unjudged         ? GuardMoment::running
                             : was_judged_before ? GuardMoment::again
                                                 : GuardMoment::ended;
  auto violated =
      violated_guard(study.guards, guarded_, outcome_.peak_memory_bytes,
                     is_of_baseline ? nullptr : trial_.baseline, moment, unit_name(study));
  if (violated || is_of_baseline) return violated;
  return missing_headroom(study.limits.memory_share, outcome_, trial_.baseline);
}

std::optional<std::string> EndOfTrial::slowness() const {
  std::optional<std::string> slow;
  if (is_searched(trial_.record.purpose) && is_time_limit(cause_.request)) {
    slow = why_slow(measurement_, trial_.reports.progress(), time_end_s(cause_, trial_),
                    unit_name(trial_.study));
  }
  if (outcome_.was_slow && !slow) slow = k_slow_in_job;
  return slow;
}

/// Counts a launch that the runner lost. The trial has failed if that happened too often.
void count_lost(EndRequest request, TrialRecord& record) {
  const bool is_lost = record.status == TrialStatus::interrupted && !interrupts(request);
  if (is_lost && ++record.lost >= k_most_lost) record.status = TrialStatus::failed;
}

void record_usage(const Outcome& outcome, const StudySpec& study, TrialRecord& record) {
  const double usd_per_s = usage_usd(on_demand_usd_per_hour(study, record.configuration), 1.0);
  record.spent_s += outcome.billed_s;
  record.spent_usd += outcome.billed_usd.value_or(outcome.billed_s * usd_per_s);
  record.peak_memory_bytes = outcome.peak_memory_bytes;
  record.peak_unreclaimable_bytes = outcome.peak_unreclaimable_bytes;
  record.disturbance = outcome.disturbance;
  record.cpu_busy = outcome.cpu_busy;
  record.storage_read_bytes = outcome.storage_read_bytes;
  record.gpu = outcome.gpu;
}

/// Records the clocks in the measured window. If no clock was read in the window, records the
/// clocks of the whole trial.
void record_clock(std::span<const MachineSecond> machine, const Measurement& measurement,
                  double program_startup_s, TrialRecord& record) {
  // The measurement's times count from the start of the process, which may be older than the trial.
  record.cpu_clock = cpu_clock_between(machine, measurement.window_begin_s() - program_startup_s,
                                       measurement.window_end_s() - program_startup_s);
  if (record.cpu_clock) return;
  record.cpu_clock = cpu_clock_between(machine, 0.0, k_infinity);
}

/// Sets the cause of each lasting change of speed, if the machine's figures explain it.
void explain_changes(std::span<const MachineSecond> machine, double program_startup_s,
                     Measurement& measurement) {
  const double end_s = measurement.window_end_s() - program_startup_s;
  double from_s = measurement.startup_s - program_startup_s;
  for (auto change = measurement.level_changes.begin(); change != measurement.level_changes.end();
       ++change) {
    const double at_s = change->at_s - program_startup_s;
    const auto next = std::next(change);
    const double to_s = next == measurement.level_changes.end() ? std::max(at_s, end_s)
                                                                : next->at_s - program_startup_s;
    change->machine = explaining_change(within(machine, from_s, at_s), within(machine, at_s, to_s),
                                        change->ratio);
    from_s = at_s;
  }
}

}  // namespace

TrialRecord ended_record(const TrialView& trial, const TrialEndCause& cause, const Outcome& outcome,
                         std::span<const MachineSecond> machine, std::span<const Interval> beside) {
  TrialRecord record = trial.record;
  record_usage(outcome, trial.study, record);
  // The memory that the trial has used is evidence of its batch size.
  const TrialView used{trial.study,        record,        trial.targets, trial.reports,
                       trial.usd_per_hour, trial.baseline};
  const EndOfTrial end(used, cause, outcome, beside);
  const TrialFindings findings = end.findings();
  TrialResult result = trial_result(outcome.kind, cause, findings);
  record.status = result.status;
  count_lost(cause.request, record);
  record.failure = std::move(result.failure);
  if (!outcome.left_behind.empty()) record.placement[k_left_behind_fact] = outcome.left_behind;
  Measurement measurement = end.measurement();
  const double program_startup_s = trial.reports.program_startup_s();
  record_clock(machine, measurement, program_startup_s, record);
  explain_changes(outcome.machine, program_startup_s, measurement);
  if (cause.request == EndRequest::slow_start && record.status == TrialStatus::infeasible) {
    record.awaited_start_s = cause.waited_s;
  }
  const HookLog& hook = trial.reports.hook();
  if (record.purpose == TrialPurpose::baseline && !hook.empty()) record.hook = hook.to_json();
  if (is_final(record.status)) record.measurement = std::move(measurement);
  if (was_measured(record.status) && end.objectives() && !findings.not_applied) {
    record.objectives.clear();
    record.standard_errors.clear();
    for (const auto& [value, error] : *end.objectives()) {
      record.objectives.push_back(value);
      record.standard_errors.push_back(error);
    }
  }
  return record;
}

}  // namespace steptune
