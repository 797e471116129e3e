// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/running_trial.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/clauses.hpp"
#include "common/interval.hpp"
#include "common/text.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/live/attached_runner.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/buffer_bound.hpp"
#include "tuner/loop/decision_log.hpp"
#include "tuner/loop/hook_check.hpp"
#include "tuner/loop/observations.hpp"
#include "tuner/loop/trial_spec.hpp"
#include "tuner/study/counted_steps.hpp"
#include "tuner/study/unit_name.hpp"
#include "tuner/verdict/objectives.hpp"
#include "tuner/verdict/planned_time.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {
namespace {

constexpr double k_never_s = std::numeric_limits<double>::infinity();

/// Most launches of a trial that the runner loses (machine gone, killed from outside).
constexpr int k_attempts_when_lost = 3;

/// Least steps before a trial may be called slower.
constexpr double k_least_look_steps = 10.0;
constexpr const char* k_slow_in_job =
    "clearly slower than the best in two successive checks, so its job ended it";
/// Standard errors by which a trial must be slower at this first look, which is too short for a
/// fair interval.
constexpr double k_errors_apart = 4.0;
/// Same for a trial in turns with the baseline. Its interval is fair after the first block, so it
/// is slower once its whole interval lies above the best one's.
constexpr double k_errors_apart_in_turns = k_z_95;

/// Least share of the baseline's samples or steps that a program must reach before its end counts
/// as complete.
constexpr double k_least_of_baseline = 0.5;

/// Long look of the baseline, as multiples of the least window's steps and time. A stall in 1 of 20
/// steps is missed by 21 % of 30-step windows but only 0.6 % of 100-step windows.
constexpr double k_long_look_steps = 7.0;
constexpr double k_long_look_time = 10.0;

/// Longest time of a baseline whose rate drifts, as a multiple of its share of a time budget, up to
/// half of the budget. The baseline may still become steady, but the other trials need their time.
constexpr double k_unsteady_baseline = 2.0;

/// Silence limit during training, as a multiple of the start-up limit.
constexpr double k_silence_per_start = 2.0;

/// Periods a trial must cover before a periodic phase counts as observed.
constexpr double k_periods_to_see = 2.0;

/// Share of `limits.wall` after which the loop ends a trial that reports.
constexpr double k_share_of_wall = 0.95;

/// Ratio for a trial in turns with the baseline in a shared program, which has the other half of
/// the time. The trial may take twice as long, and its window is as good as one of twice the
/// length.
constexpr double k_with_turns = 2.0;

/// Most entries about the machine in a trial's trace.
constexpr std::size_t k_most_machine_seconds = 500;

/// A trial that is silent for more than this share of its run time, up to its end, may hang.
constexpr double k_silent_share = 0.5;

/// Changes the measurement of a trial that had reported no step for `silent_s` when its time was
/// over. Nothing shows that a long run keeps the rate from before the silence.
void count_silent_end(double silent_s, Measurement& measurement) {
  if (!(silent_s > 0.0) || !(measurement.window_samples > 0.0)) return;
  measurement.slowest_seconds_per_sample =
      std::max(measurement.slowest_seconds_per_sample,
               (measurement.window_s + silent_s) / measurement.window_samples);
  measurement.silent_s = silent_s;
  add_clause(
      measurement.remark,
      fmt::format("no step was told in its last {}: it hangs, or does what it does not report",
                  format_duration(silent_s)));
}

/// Returns the samples of the run itself. If the program continues from a checkpoint, its counter
/// starts with the samples before it.
double own_samples(const Measurement& measurement) {
  if (measurement.whole_run) return measurement.total_samples;
  const double steps_s = measurement.warmup_s - measurement.warmup_excess_s + measurement.window_s;
  const double seen = steps_s / measurement.seconds_per_sample;
  return seen > 0.0 ? std::min(seen, measurement.total_samples) : measurement.total_samples;
}

/// True if a program that ended in order had done all its work. A program that gives up after a few
/// steps may also end in order.
bool is_as_long(const Measurement& whole_run, const Measurement* baseline) {
  if (baseline == nullptr) return true;
  const auto steps = [](const Measurement& measurement) {
    return own_samples(measurement) * measurement.window_steps / measurement.window_samples;
  };
  return own_samples(whole_run) >= k_least_of_baseline * own_samples(*baseline) ||
         steps(whole_run) >= k_least_of_baseline * steps(*baseline);
}

RankMeasurers make_measurer(const StudySpec& study, const TrialRecord& record, double started_s,
                            const TrialTargets& targets, double program_startup_s = 0.0) {
  MeasureOptions options;
  options.started_s = started_s;
  options.before_start_s = program_startup_s;
  options.samples_per_step = samples_per_count(study, record.configuration);
  options.buffered_steps = buffered_steps(study, record.configuration);
  options.target_half_width = targets.measure.target_half_width;
  options.usual_variance_s = targets.usual_variance_s;
  options.in_turns = targets.interleaved_round > 0;
  return RankMeasurers(options);
}

ProgressTracer make_tracer(const StudySpec& study, const TrialRecord& record, double started_s) {
  return {started_s, samples_per_count(study, record.configuration)};
}

constexpr std::size_t k_most_events_kept = 200;

/// Drops the oldest event if there are too many: the latest ones show how the trial ended.
template <typename Event>
void keep_latest(std::vector<Event>& events) {
  if (events.size() > k_most_events_kept) events.erase(events.begin());
}

/// Returns `measurement` as it is compared with the baseline's: without stalls that are too rare
/// for the time that the baseline was watched. The baseline may have such stalls, too. Fresh runs
/// watch both for long enough.
Measurement comparable(Measurement measurement, const Measurement* baseline) {
  if (baseline == nullptr || !std::isfinite(measurement.step_seconds_per_sample))
    return measurement;
  const bool baseline_stalls = std::ranges::any_of(
      baseline->phases, [](const auto& phase) { return is_stall(phase.first); });
  if (baseline_stalls) return measurement;
  std::erase_if(measurement.phases, [&](const auto& phase) {
    const double period = samples_between(phase.second, measurement.total_samples);
    return is_stall(phase.first) && baseline->total_samples < k_periods_to_see * period;
  });
  return measurement;
}

const Measurement* measurement_of(const TrialRecord* trial) {
  return trial != nullptr && trial->measurement ? &*trial->measurement : nullptr;
}

/// Puts the values that guards judged among the metrics, with their standard errors.
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

}  // namespace

bool is_tight(const Measurement& measurement, const MeasureSpec& wanted) {
  return !measurement.may_have_just_changed &&
         measurement.relative_half_width() <= wanted.target_half_width &&
         measurement.window_s >= wanted.min_window_s &&
         measurement.window_steps >= wanted.min_window_steps;
}

void look_for_long(TrialTargets& targets) {
  targets.long_look_steps = k_long_look_steps * targets.measure.min_window_steps;
  targets.long_look_s =
      std::min(k_long_look_time * targets.measure.min_window_s, 0.5 * targets.share_s);
}

bool was_looked_at_for_long(const Measurement& measurement, const TrialTargets& targets) {
  return measurement.window_steps >= targets.long_look_steps ||
         measurement.window_s >= targets.long_look_s;
}

RunningTrial::RunningTrial(const StudySpec& study, TrialRecord record, double now_s,
                           TrialTargets targets)
    : study_(&study),
      targets_(std::move(targets)),
      record_(std::move(record)),
      measurer_(make_measurer(study, record_, now_s, targets_)),
      tracer_(make_tracer(study, record_, now_s)),
      progress_(samples_per_count(study, record_.configuration)),
      early_stopping_(scheduler_options(study)),
      guarded_(study.guards),
      usd_per_hour_(usd_per_hour(study, record_.configuration)),
      usd_per_billed_s_(usage_usd(on_demand_usd_per_hour(study, record_.configuration), 1.0)),
      started_s_(now_s) {}

void RunningTrial::started(const TrialStarted& event) {
  record_.status = TrialStatus::running;
  record_.token = event.token;
  record_.placement = event.placement;
  started_s_ = event.time_s;
  record_.disturbed_s = 0.0;
  program_startup_s_ = event.program_startup_s;
  in_phase_ = false;
  paused_since_s_.reset();
  paused_s_ = 0.0;
  progressed_s_ = started_s_;
  measurer_ = make_measurer(*study_, record_, started_s_, targets_, program_startup_s_);
  tracer_ = make_tracer(*study_, record_, started_s_);
  disturbed_.clear();
  decisions_.clear();
  progress_ = ProgressBound(samples_per_count(*study_, record_.configuration));
  hook_ = HookLog();
  early_stopping_ = EarlyStopping(scheduler_options(*study_));
  told_resource_.reset();
}

void RunningTrial::reported(const Report& report) {
  reported_s_ = report.received_s;
  if (report.step || report.samples || report.phase) progressed_s_ = report.received_s;
  for (const std::string& event : report.hook_events)
    hook_.add(event);
  measurer_.add(report);
  // The following objects track the counters of one process.
  if (report.global_rank.value_or(0) != 0) return;
  if (report.phase) {
    in_phase_ = !report.phase->seconds;
  } else if (report.step || report.samples) {
    in_phase_ = false;
  }
  tracer_.add(report);
  if (progress_.add(report)) {
    // The count began again. Scheduler and guards saw an earlier training, which does not count.
    told_resource_.reset();
    guarded_ = GuardWindows(study_->guards);
  }
  guarded_.add(measurer_.current(), report);
}

void RunningTrial::disturbed(const TrialDisturbed& event) {
  // CPUs and GPUs may be disturbed at the same time.
  record_.disturbed_s += std::max(0.0, event.to_s - std::max(event.from_s, disturbed_until_s_));
  disturbed_until_s_ = std::max(disturbed_until_s_, event.to_s);
  disturbed_.push_back({event.from_s - started_s_, event.to_s - started_s_, event.disturbance});
  keep_latest(disturbed_);
}

bool RunningTrial::paused(const TrialPaused& event) {
  paused_since_s_ = event.goes_on ? std::nullopt : std::optional(event.time_s);
  paused_s_ = event.paused_s;
  if (!event.in_vain || !interrupt(EndRequest::interleaved)) return false;
  request_reason_ = "it prints while it is stopped, so that some of it runs elsewhere";
  return true;
}

Measurement RunningTrial::compared(const Measurement& measurement,
                                   const TrialRecord* baseline) const {
  return is_beside_baseline() ? comparable(measurement, measurement_of(baseline)) : measurement;
}

bool RunningTrial::is_beside_baseline() const {
  return is_searched(record_.purpose) || record_.purpose == TrialPurpose::sentinel;
}

tl::expected<ObjectiveValues, std::string> RunningTrial::objectives_now(
    const TrialRecord* baseline) const {
  return objective_values(*study_, compared(measurer_.current(), baseline), usd_per_hour_,
                          measurement_of(baseline));
}

bool RunningTrial::is_measured() const {
  // Runs of one round end at the same time: what one measures alone its partner does not meet.
  if (targets_.interleaved_round > 1 && std::isfinite(targets_.share_s)) return false;
  MeasureSpec wanted = targets_.measure;
  if (takes_turns()) {
    wanted.min_window_s /= k_with_turns;
    wanted.min_window_steps = static_cast<int>(std::ceil(wanted.min_window_steps / k_with_turns));
  }
  const Measurement& current = measurer_.current();
  const bool is_judged = shares_program() || guarded_.are_full();
  return all_timed(*study_) && is_judged && is_tight(current, wanted) &&
         was_looked_at_for_long(current, targets_) &&
         current.window_samples >= targets_.min_window_samples && !may_be_buffered();
}

bool RunningTrial::is_clearly_slower(const TrialRecord* baseline) const {
  const Measurement& current = measurer_.current();
  const bool too_short = !takes_turns() && (current.window_steps < k_least_look_steps ||
                                            current.window_s < targets_.measure.min_window_s);
  if (!targets_.to_beat || !is_searched(record_.purpose) || study_->objectives.size() != 1 ||
      !all_timed(*study_) || too_short) {
    return false;
  }
  const auto objectives = objectives_now(baseline);
  if (!objectives) return false;
  const TrialEstimate estimate =
      to_estimate(*study_, record_.number, current.window_steps, objectives->values,
                  objectives->standard_errors, record_.level);
  const double errors = takes_turns() ? k_errors_apart_in_turns : k_errors_apart;
  const double apart = errors / k_z_95 * estimate.half_widths[0];
  // Turns measure a ratio, whose interval is symmetric on a logarithmic scale.
  return (takes_turns() ? estimate.values[0] * std::exp(-apart / estimate.values[0])
                        : estimate.values[0] - apart) > *targets_.to_beat;
}

bool RunningTrial::may_be_buffered() const {
  return targets_.baseline_seconds_per_sample &&
         may_hide_gain(measurer_.current(), *targets_.baseline_seconds_per_sample,
                       targets_.measure.target_half_width);
}

bool RunningTrial::awaits_guard() const {
  const bool is_judged =
      (is_searched(record_.purpose) && !shares_program()) ||
      (record_.purpose == TrialPurpose::confirm_incumbent && !targets_.kept_guards);
  return is_judged && guarded_.awaits_samples(measurer_.current().total_samples);
}

bool RunningTrial::ask_for_end(EndRequest request, std::string reason) {
  request_ = request;
  request_reason_ = std::move(reason);
  return true;
}

bool RunningTrial::is_given_up(Scheduler& scheduler, Searcher& searcher,
                               const TrialRecord* baseline) {
  const Measurement& current = measurer_.current();
  if (!is_compared(record_.purpose)) return false;
  if (told_resource_ && current.window_steps <= *told_resource_) return false;
  const auto objectives = objectives_now(baseline);
  // Until the batch size is shown to be applied, the value may be too good for any real
  // configuration.
  if (!objectives || unlike_batch(current, baseline)) return false;
  told_resource_ = current.window_steps;
  const TrialEstimate estimate =
      to_estimate(*study_, record_.number, current.window_steps, objectives->values,
                  objectives->standard_errors, record_.level);
  // A configuration with fewer changes can only tie with the best, so a scheduler would stop it.
  if (!is_searched(record_.purpose) || record_.origin == k_fewest_changes) {
    early_stopping_.record(estimate);
    scheduler.on_exempt(estimate);
    return false;
  }
  StopDecision decision =
      early_stopping_.decide(estimate, record_.configuration, scheduler, searcher);
  log_scheduled(estimate, decision);
  decisions_.push_back({reported_s_ - started_s_, estimate.resource, decision.stop, estimate.values,
                        estimate.half_widths, decision.reason});
  keep_latest(decisions_);
  if (!decision.stop) return false;
  request_reason_ = std::move(decision.reason);
  return true;
}

std::optional<std::string> RunningTrial::settled_difference() const {
  if (hook_.empty() || !(measurer_.current().window_steps >= k_least_look_steps)) {
    return std::nullopt;
  }
  return why_not_in_force(hook_, knob_values(*study_, record_.configuration));
}

std::optional<std::string> RunningTrial::unlike_batch(const Measurement& measurement,
                                                      const TrialRecord* baseline) const {
  const bool is_judged =
      is_searched(record_.purpose) || record_.purpose == TrialPurpose::confirm_incumbent;
  if (!is_judged || baseline == nullptr || measurement.samples_told.value_or(true)) {
    return std::nullopt;
  }
  TrialRecord trial = record_;
  trial.measurement = measurement;
  const auto effect = batch_effect(*study_, trial, *baseline, targets_.launches, &hook_);
  return effect ? why_not_applied(*effect, targets_.batch_applied) : std::nullopt;
}

bool RunningTrial::wants_to_end(Scheduler& scheduler, Searcher& searcher,
                                const TrialRecord* baseline) {
  if (request_ != EndRequest::none) return false;
  if (auto difference = settled_difference()) {
    return ask_for_end(EndRequest::unlike, *std::move(difference));
  }
  if (is_searched(record_.purpose)) {
    auto violated = violated_guard(study_->guards, guarded_.settled(), std::nullopt, baseline,
                                   GuardMoment::running, unit_name(*study_));
    if (violated) return ask_for_end(EndRequest::guard, *std::move(violated));
  }
  const bool given_up = is_given_up(scheduler, searcher, baseline);
  const bool measured = is_measured();
  is_slower_ = !measured && is_clearly_slower(baseline);
  if (!given_up && !measured && !is_slower_) return false;
  // Exclude what a program does while it ends (a last checkpoint).
  at_request_ = measurer_.current();
  if (measured || is_slower_) return ask_for_end(EndRequest::measured, "");
  return ask_for_end(EndRequest::scheduler, std::move(request_reason_));
}

bool RunningTrial::has_told_progress() const {
  return measurer_.current().status != MeasurementStatus::no_reports || progress_.has_begun();
}

double RunningTrial::before_wall_s() const {
  // If a trial has reported nothing, there is nothing to save.
  if (!progress_.has_begun()) return k_never_s;
  return started_s_ + k_share_of_wall * study_->limits.wall_s;
}

double RunningTrial::budget_end_s() const {
  return std::max(targets_.budget_end_s, started_s_ + targets_.least_s);
}

double RunningTrial::deadline_s() const {
  // Before the start, the runner waits, for machines or for their price.
  if (request_ != EndRequest::none || record_.status != TrialStatus::running) return k_never_s;
  const double own_s = paused_since_s_ ? k_never_s : first_limit_s() + paused_s_;
  return std::min(own_s, budget_end_s());
}

double RunningTrial::first_limit_s() const {
  return std::min({start_limit_s(), silence_limit_s(), own_limit_s()});
}

double RunningTrial::start_limit_s() const {
  // A single report shows no rate, but it shows that the program has started.
  return has_told_progress() ? k_never_s : started_s_ + targets_.longest_start_s;
}

double RunningTrial::silence_limit_s() const {
  if (!is_searched(record_.purpose) || !(targets_.longest_trial_s > 0.0) || in_phase_ ||
      !has_told_progress()) {
    return k_never_s;
  }
  return progressed_s_ +
         std::max(targets_.longest_trial_s, k_silence_per_start * targets_.longest_start_s);
}

double RunningTrial::own_limit_s() const {
  const Measurement& current = measurer_.current();
  const double last_s = before_wall_s();
  if (current.status == MeasurementStatus::no_reports) {
    return std::min(started_s_ + study_->limits.idle_s + targets_.measure.max_trial_s, last_s);
  }
  // The baseline may use all its time for a guard, because other trials are compared with it.
  if (record_.purpose == TrialPurpose::baseline && guarded_.awaits_samples(current.total_samples)) {
    return last_s;
  }
  const bool will_do = current.status == MeasurementStatus::steady &&
                       current.window_steps >= k_least_look_steps && !may_be_buffered();
  const double most_s = (takes_turns() ? k_with_turns : 1.0) * targets_.measure.max_trial_s;
  const double enough_s = will_do ? targets_.share_s : longest_without_steady_state_s();
  const double longest_s = awaits_guard() ? most_s : std::min(most_s, enough_s);
  // The shared program had started before this trial began.
  const double startup_s = current.startup_s - program_startup_s_;
  return std::min(started_s_ + std::max(0.0, startup_s) + longest_s, last_s);
}

double RunningTrial::longest_without_steady_state_s() const {
  const bool is_found = measurer_.current().status == MeasurementStatus::not_steady;
  if (!is_found || !is_compared(record_.purpose) || !study_->budget.time_s) return k_never_s;
  if (record_.purpose != TrialPurpose::baseline) return targets_.share_s;
  return std::max(targets_.share_s,
                  std::min(k_unsteady_baseline * targets_.share_s, 0.5 * *study_->budget.time_s));
}

bool RunningTrial::shares_program() const {
  return record_.placement.contains(k_shared_program);
}

bool RunningTrial::takes_turns() const {
  return shares_program() && is_beside_baseline();
}

double RunningTrial::own_end_s() const {
  return takes_turns() ? reported_s_ : requested_s_;
}

std::string RunningTrial::why_no_start(double waited_s) const {
  const BudgetSpec& budget = study_->budget;
  const std::string may_take =
      fmt::format("more than a trial's start-up may take of a {}",
                  budget.time_of_usd ? "budget of " + format_usd(*budget.time_of_usd)
                                     : "tuning time of " + format_duration(*budget.time_s));
  const std::string waited = format_duration(waited_s);
  // Nobody knows if the first step would have come.
  if (targets_.longest_trial_s > 0.0 && waited_s > targets_.longest_trial_s) {
    return fmt::format(
        "no step reported within {}, longer than any other trial took as a whole: it hangs, or "
        "starts slowly ({})",
        waited, may_take);
  }
  return fmt::format("no step reported within {}: {}", waited, may_take);
}

bool RunningTrial::out_of_time(double now_s) {
  if (now_s < deadline_s()) return false;
  const double trial_s = trial_time_s(now_s);
  requested_s_ = trial_s;
  if (trial_s >= start_limit_s()) {
    return ask_for_end(EndRequest::slow_start, why_no_start(trial_s - started_s_));
  }
  // If its lines came late (the tuner was away), its own limit had been reached before.
  if (trial_s >= silence_limit_s() && silence_limit_s() < own_limit_s()) {
    return ask_for_end(
        EndRequest::silent,
        fmt::format("hung: no step told for {}, longer than any other trial took as a whole",
                    format_duration(trial_s - progressed_s_)));
  }
  if (trial_s >= own_limit_s() && own_limit_s() + paused_s_ <= budget_end_s())
    return ask_for_end(EndRequest::time_limit, "");
  // A study with more time repeats a trial that was measured too little. The baseline is not
  // repeated: without a baseline, the study cannot continue.
  const MeasurementStatus seen = measurer_.current().status;
  const bool too_little = seen == MeasurementStatus::no_reports ||
                          seen == MeasurementStatus::warming_up ||
                          (is_searched(record_.purpose) && awaits_guard());
  if (too_little && record_.purpose != TrialPurpose::baseline)
    return interrupt(EndRequest::no_time);
  return ask_for_end(EndRequest::time_limit, time_over_text(study_->budget));
}

bool RunningTrial::interrupt(EndRequest request) {
  if (request_ != EndRequest::none) return false;
  request_ = request;
  return true;
}

bool RunningTrial::refuse(std::string why) {
  return request_ == EndRequest::none && ask_for_end(EndRequest::silent, std::move(why));
}

double RunningTrial::silent_end_s() const {
  const double silent_s = requested_s_ - progressed_s_;
  const bool for_most = request_ == EndRequest::time_limit && !in_phase_ && !shares_program() &&
                        silent_s > k_silent_share * (requested_s_ - started_s_);
  return for_most ? silent_s : 0.0;
}

Measurement RunningTrial::final_measurement() const {
  switch (request_) {
    case EndRequest::measured:
    case EndRequest::scheduler:
      return at_request_.value_or(measurer_.current());
    case EndRequest::time_limit: {
      Measurement measurement = unsteady_at_limit(measurer_.current(), progress_, own_end_s());
      add_clause(measurement.remark, request_reason_);
      count_silent_end(silent_end_s(), measurement);
      if (requested_s_ >= before_wall_s() && measurement.remark.empty()) {
        measurement.remark =
            fmt::format("cut short by \"limits.wall\" ({}) after {:.0f} steps",
                        format_duration(study_->limits.wall_s), measurement.window_steps);
      }
      return measurement;
    }
    default:
      return measurer_.current();
  }
}

TrialTrace RunningTrial::trace(const std::optional<Measurement>& measured) const {
  std::vector<double> kept_s;
  if (measured) {
    kept_s = {measured->window_begin_s() - program_startup_s_,
              measured->window_end_s() - program_startup_s_};
  }
  return {tracer_.trace(kept_s), disturbed_, decisions_, program_startup_s_, machine_};
}

Measurement RunningTrial::measurement_at_end(const Outcome& outcome,
                                             const TrialRecord* baseline) const {
  const bool by_itself =
      request_ == EndRequest::none && outcome.kind == OutcomeKind::completed && !shares_program();
  if (by_itself) {
    Measurement whole_run = measurer_.whole_run(started_s_ + outcome.duration_s);
    if (is_as_long(whole_run, measurement_of(baseline))) return whole_run;
  }
  return final_measurement();
}

bool RunningTrial::was_cut_short(const Outcome& outcome) const {
  return request_ == EndRequest::scheduler || is_slower_ || outcome.was_slow;
}

std::optional<std::string> RunningTrial::violation(const Outcome& outcome,
                                                   const GuardedValues& guarded,
                                                   const TrialRecord* baseline) const {
  if (request_ == EndRequest::guard) return request_reason_;
  const TrialPurpose purpose = record_.purpose;
  // A fresh run may end before it has processed the samples that a guard asks for.
  const bool is_repeated =
      purpose == TrialPurpose::sentinel || purpose == TrialPurpose::confirm_baseline;
  const bool was_judged_before = is_repeated || targets_.kept_guards;
  const bool is_unjudged = was_cut_short(outcome) || shares_program();
  const GuardMoment moment = is_unjudged         ? GuardMoment::running
                             : was_judged_before ? GuardMoment::again
                                                 : GuardMoment::ended;
  if (is_repeated || purpose == TrialPurpose::baseline) {
    return violated_guard(study_->guards, guarded, outcome.peak_memory_bytes, nullptr, moment,
                          unit_name(*study_));
  }
  if (auto violated = violated_guard(study_->guards, guarded, outcome.peak_memory_bytes, baseline,
                                     moment, unit_name(*study_))) {
    return violated;
  }
  return missing_headroom(study_->limits.memory_share, outcome, baseline);
}

void RunningTrial::record_usage(const Outcome& outcome) {
  record_.spent_s += outcome.billed_s;
  record_.spent_usd += outcome.billed_usd.value_or(outcome.billed_s * usd_per_billed_s_);
  record_.peak_memory_bytes = outcome.peak_memory_bytes;
  record_.peak_unreclaimable_bytes = outcome.peak_unreclaimable_bytes;
  record_.disturbance = outcome.disturbance;
  record_.cpu_busy = outcome.cpu_busy;
  record_.storage_read_bytes = outcome.storage_read_bytes;
  record_.gpu = outcome.gpu;
}

void RunningTrial::record_machine(const Outcome& outcome, Measurement& measurement) {
  machine_ = thinned(outcome.machine, k_most_machine_seconds);
  // The measurement's times count from the start of the process, which may be older than the trial.
  const double begin_s = measurement.window_begin_s() - program_startup_s_;
  const double end_s = measurement.window_end_s() - program_startup_s_;
  record_.cpu_clock = cpu_clock_between(machine_, begin_s, end_s);
  if (!record_.cpu_clock) record_.cpu_clock = cpu_clock_between(machine_, 0.0, k_never_s);
  double from_s = measurement.startup_s - program_startup_s_;
  for (auto change = measurement.level_changes.begin(); change != measurement.level_changes.end();
       ++change) {
    const double at_s = change->at_s - program_startup_s_;
    const auto next = std::next(change);
    const double to_s = next == measurement.level_changes.end() ? std::max(at_s, end_s)
                                                                : next->at_s - program_startup_s_;
    change->machine = explaining_change(within(outcome.machine, from_s, at_s),
                                        within(outcome.machine, at_s, to_s), change->ratio);
    from_s = at_s;
  }
}

TrialStatus RunningTrial::status_after(TrialStatus ended) const {
  const bool is_lost = ended == TrialStatus::interrupted && !interrupts(request_);
  return is_lost && record_.attempt >= k_attempts_when_lost ? TrialStatus::failed : ended;
}

void RunningTrial::settle_request(const Outcome& outcome) {
  // Two trials may need the same port, lock file or memory. This one may well run by itself.
  const bool failed = outcome.kind != OutcomeKind::completed &&
                      outcome.kind != OutcomeKind::stopped && outcome.kind != OutcomeKind::lost;
  if (failed && targets_.interleaved_round > 0 && interrupt(EndRequest::interleaved)) {
    request_reason_ = "it failed next to another trial";
  }
  if (outcome.had_enough && request_ == EndRequest::none) {
    requested_s_ = started_s_ + outcome.duration_s;
    ask_for_end(EndRequest::time_limit,
                outcome.was_slow ? k_slow_in_job : "its time in the job was over");
  }
  const double silent_s = silent_end_s();
  // The reports were rejected during training, so the rate before that does not count.
  if (silent_s > 0.0 && !outcome.detail.empty()) {
    ask_for_end(EndRequest::silent, fmt::format("no step was understood for {}: {}",
                                                format_duration(silent_s), outcome.detail));
  }
}

/// Facts about a trial at its end.
struct RunningTrial::Findings {
  Measurement measurement;
  GuardedValues guarded;
  Measurement priced;  ///< measurement behind the objectives
  HookFindings hook;
  tl::expected<ObjectiveValues, std::string> objectives;
};

RunningTrial::Findings RunningTrial::findings(const Outcome& outcome,
                                              const TrialRecord* baseline) const {
  Findings found;
  found.measurement = measurement_at_end(outcome, baseline);
  // The hook then only repeats the samples that the study gave to it.
  if (has_given_samples(hook_)) found.measurement.samples_told = false;
  // If a trial was given up for its speed, a guard that it did not reach says nothing against it.
  found.guarded = was_cut_short(outcome) ? guarded_.settled() : guarded_.all();
  add_guarded(study_->guards, found.guarded, found.measurement);
  const bool counts = request_ == EndRequest::time_limit || found.measurement.whole_run;
  found.priced = compared(counts ? as_if_steady(found.measurement) : found.measurement, baseline);
  found.hook = check_hook(*study_, record_.configuration, hook_, hook_events_path(record_));
  found.objectives = found.hook.absent ? tl::unexpected(*found.hook.absent)
                                       : objective_values(*study_, found.priced, usd_per_hour_,
                                                          measurement_of(baseline));
  return found;
}

TrialEnding RunningTrial::ending_of(const Outcome& outcome, const Findings& found,
                                    const TrialRecord* baseline) const {
  TrialEnding ending{outcome.kind, outcome.detail, request_, request_reason_, {}, {}, {}};
  // The missing hook explains why the runner waited for reports without success.
  if (found.hook.absent && outcome.kind == OutcomeKind::hung) {
    add_clause(ending.detail, *found.hook.absent);
  }
  ending.not_in_force = found.hook.not_in_force;
  if (!ending.not_in_force) ending.not_in_force = unlike_batch(found.measurement, baseline);
  ending.given_up = found.hook.given_up;
  if (!found.objectives) ending.missing = found.objectives.error();
  if (is_searched(record_.purpose) && request_ == EndRequest::time_limit) {
    ending.slow = why_slow(found.measurement, progress_, own_end_s(), unit_name(*study_));
  }
  if (outcome.was_slow && !ending.slow) ending.slow = k_slow_in_job;
  ending.violated = violation(outcome, found.guarded, baseline);
  // The rate alone determines the planned run's time, even if the trial was short.
  if (!ending.violated && found.objectives && found.priced.status == MeasurementStatus::steady &&
      is_compared(record_.purpose)) {
    ending.violated = missed_limit(
        study_->planned_run,
        planned_time(study_->planned_run, found.priced, measurement_of(baseline)), usd_per_hour_);
    // The limit is missed for certain, so a slow measurement is not the reason.
    if (ending.violated) ending.slow.reset();
  }
  return ending;
}

TrialRecord RunningTrial::finished(const Outcome& outcome, const TrialRecord* baseline,
                                   double wall_time_s) {
  settle_request(outcome);
  record_usage(outcome);
  Findings found = findings(outcome, baseline);
  const TrialEnding ending = ending_of(outcome, found, baseline);
  TrialResult result = trial_result(ending);
  record_.status = status_after(result.status);
  record_.failure = std::move(result.failure);
  record_.ended_wall_s = wall_time_s;
  if (!outcome.left_behind.empty()) record_.placement[k_left_behind_fact] = outcome.left_behind;
  record_machine(outcome, found.measurement);
  if (request_ == EndRequest::slow_start && record_.status == TrialStatus::infeasible) {
    record_.awaited_start_s = requested_s_ - started_s_;
  }
  if (record_.purpose == TrialPurpose::baseline && !hook_.empty()) record_.hook = hook_.to_json();
  if (is_final(record_.status)) {
    record_.measurement = std::move(found.measurement);
    const auto milestones = early_stopping_.milestones();
    record_.milestones.assign(milestones.begin(), milestones.end());
    const auto rungs = early_stopping_.rungs();
    record_.rungs.assign(rungs.begin(), rungs.end());
  }
  if (was_measured(record_.status) && found.objectives && !ending.not_in_force) {
    record_.objectives = std::move(found.objectives->values);
    record_.standard_errors = std::move(found.objectives->standard_errors);
  }
  return std::exchange(record_, TrialRecord{});
}

}  // namespace steptune
