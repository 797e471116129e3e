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
#include "tuner/loop/trial_spec.hpp"
#include "tuner/study/unit_name.hpp"
#include "tuner/verdict/batch_effect.hpp"
#include "tuner/verdict/objectives.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

/// Number of lost launches (machine gone, killed from outside) after which a trial has failed.
constexpr int k_most_lost = 3;

/// Adds the values that guards judged to the metrics, with their standard errors.
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

/// Facts about a trial at its end.
struct FactsAtEnd {
  Measurement measurement;  ///< final measurement
  GuardedValues guarded;
  Measurement priced;  ///< measurement behind the objectives
  HookFindings hook;
  tl::expected<std::vector<MeasuredValue>, std::string> objectives;
};

/// Judges a trial that has ended.
class EndOfTrial {
 public:
  /// All arguments outlive the object.
  EndOfTrial(const TrialView& trial, const TrialEndCause& cause, const Outcome& outcome,
             const TrialRecord* baseline, std::span<const Interval> beside)
      : trial_(trial), cause_(cause), outcome_(outcome), baseline_(baseline), beside_(beside) {}

  /// Collects what is known at the end. Removes the file of the hook's events.
  [[nodiscard]] FactsAtEnd facts() const;
  /// Returns everything that decides the trial's result.
  [[nodiscard]] TrialEnding ending(const FactsAtEnd& facts) const;

 private:
  /// True if the trial was ended because it is slow.
  [[nodiscard]] bool was_cut_short() const;
  /// Returns the guard or the memory limit that the trial violated; nullopt if none.
  [[nodiscard]] std::optional<std::string> violation(const GuardedValues& guarded) const;
  /// Returns the deadline or the cost limit that the planned run certainly misses.
  [[nodiscard]] std::optional<std::string> missed_plan(const FactsAtEnd& facts) const;
  /// Returns why too little was measured in the trial's time; nullopt if enough was measured.
  [[nodiscard]] std::optional<std::string> slowness(const Measurement& measurement) const;

  const TrialView& trial_;
  const TrialEndCause& cause_;
  const Outcome& outcome_;
  const TrialRecord* baseline_;
  std::span<const Interval> beside_;
};

FactsAtEnd EndOfTrial::facts() const {
  const StudySpec& study = trial_.study;
  FactsAtEnd facts;
  facts.measurement = final_measurement(trial_, cause_, outcome_, baseline_);
  const Measurement* of_baseline = measurement_of(baseline_);
  const auto ratio = ratio_in_turns(trial_.reports.turns(), beside_);
  if (ratio) facts.measurement.ratio_error = ratio->relative_error;
  // A confirming run is compared with the baseline's run in its own round, not with the study's
  // first run.
  if (ratio && of_baseline != nullptr && is_searched(trial_.record.purpose)) {
    set_time_by_ratio(*ratio, *of_baseline, facts.measurement);
  }
  // If the study gave the samples per step to the hook, the hook only repeats them.
  const HookLog& hook = trial_.reports.hook();
  if (has_given_samples(hook)) facts.measurement.samples_reported = false;
  // If a trial was ended for its speed, a guard that the trial did not reach does not reject the
  // trial.
  const GuardWindows& guards = trial_.reports.guards();
  facts.guarded = was_cut_short() ? guards.settled() : guards.all();
  add_guarded(study.guards, facts.guarded, facts.measurement);
  const bool counts = is_time_limit(cause_.request) || facts.measurement.whole_run;
  facts.priced = compared_with_baseline(
      trial_, counts ? marked_steady(facts.measurement) : facts.measurement, baseline_);
  facts.hook =
      check_hook(study, trial_.record.configuration, hook, hook_events_path(trial_.record));
  facts.objectives = facts.hook.absent ? tl::unexpected(*facts.hook.absent)
                                       : objective_values(study, facts.priced, trial_.usd_per_hour,
                                                          measurement_of(baseline_));
  return facts;
}

TrialEnding EndOfTrial::ending(const FactsAtEnd& facts) const {
  TrialEnding ending{
      outcome_.kind, outcome_.detail, cause_.request, reason_of(cause_, trial_), {}, {}, {}};
  // The missing hook explains why the runner waited for reports without success.
  if (facts.hook.absent && outcome_.kind == OutcomeKind::hung) {
    add_clause(ending.detail, *facts.hook.absent);
  }
  ending.not_applied = facts.hook.not_applied;
  if (!ending.not_applied) {
    ending.not_applied = unlike_batch(trial_, facts.measurement, baseline_);
  }
  ending.given_up = facts.hook.given_up;
  if (!facts.objectives) ending.missing = facts.objectives.error();
  ending.slow = slowness(facts.measurement);
  ending.violated = violation(facts.guarded);
  if (!ending.violated) {
    ending.violated = missed_plan(facts);
    // The limit is missed for certain, so a slow measurement is not the reason.
    if (ending.violated) ending.slow.reset();
  }
  return ending;
}

std::optional<std::string> EndOfTrial::missed_plan(const FactsAtEnd& facts) const {
  // The rate alone determines the planned run's time, even if the trial was short.
  const bool is_known = facts.objectives && facts.priced.status == MeasurementStatus::steady &&
                        is_compared(trial_.record.purpose);
  if (!is_known) return std::nullopt;
  const PlannedRun& plan = trial_.study.planned_run;
  return missed_limit(plan, planned_time(plan, facts.priced, measurement_of(baseline_)),
                      trial_.usd_per_hour);
}

bool EndOfTrial::was_cut_short() const {
  return cause_.request == EndRequest::scheduler || cause_.request == EndRequest::slower ||
         outcome_.was_slow;
}

std::optional<std::string> EndOfTrial::violation(const GuardedValues& guarded) const {
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
  auto violated = violated_guard(study.guards, guarded, outcome_.peak_memory_bytes,
                                 is_of_baseline ? nullptr : baseline_, moment, unit_name(study));
  if (violated || is_of_baseline) return violated;
  return missing_headroom(study.limits.memory_share, outcome_, baseline_);
}

std::optional<std::string> EndOfTrial::slowness(const Measurement& measurement) const {
  std::optional<std::string> slow;
  if (is_searched(trial_.record.purpose) && is_time_limit(cause_.request)) {
    slow = why_slow(measurement, trial_.reports.progress(), time_end_s(cause_, trial_),
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

/// Sets the cause of each change of level, if the machine explains it.
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
                         std::span<const MachineSecond> machine, const TrialRecord* baseline,
                         std::span<const Interval> beside) {
  TrialRecord record = trial.record;
  record_usage(outcome, trial.study, record);
  // The memory that the trial has used is evidence of its batch size.
  const TrialView used{trial.study, record, trial.targets, trial.reports, trial.usd_per_hour};
  const EndOfTrial end(used, cause, outcome, baseline, beside);
  FactsAtEnd facts = end.facts();
  const TrialEnding ending = end.ending(facts);
  TrialResult result = trial_result(ending);
  record.status = result.status;
  count_lost(cause.request, record);
  record.failure = std::move(result.failure);
  if (!outcome.left_behind.empty()) record.placement[k_left_behind_fact] = outcome.left_behind;
  const double program_startup_s = trial.reports.program_startup_s();
  record_clock(machine, facts.measurement, program_startup_s, record);
  explain_changes(outcome.machine, program_startup_s, facts.measurement);
  if (cause.request == EndRequest::slow_start && record.status == TrialStatus::infeasible) {
    record.awaited_start_s = cause.waited_s;
  }
  const HookLog& hook = trial.reports.hook();
  if (record.purpose == TrialPurpose::baseline && !hook.empty()) record.hook = hook.to_json();
  if (is_final(record.status)) record.measurement = std::move(facts.measurement);
  if (was_measured(record.status) && facts.objectives && !ending.not_applied) {
    record.objectives.clear();
    record.standard_errors.clear();
    for (const auto& [value, error] : *facts.objectives) {
      record.objectives.push_back(value);
      record.standard_errors.push_back(error);
    }
  }
  return record;
}

}  // namespace steptune
