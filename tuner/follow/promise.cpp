// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/promise.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "common/interval.hpp"
#include "common/numbers.hpp"
#include "tuner/study/counted_steps.hpp"
#include "tuner/study/unit_name.hpp"
#include "tuner/verdict/counted_runs.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

/// Returns the planned run's time with this trial's configuration, as the recommendation has shown
/// it to the user. If the recommendation is about other trials, returns nullopt.
std::optional<Interval95> planned_by(const StudySpec& study, const TrialRecord& trial,
                                     const Standing& standing,
                                     const std::optional<Recommendation>& recommendation) {
  if (!recommendation) return std::nullopt;
  const TrialRecord* baseline = standing.baseline();
  const bool is_incumbent = recommendation->incumbent_trial == trial.number;
  const bool is_baseline = baseline != nullptr && baseline->number == trial.number;
  if (!is_incumbent && !is_baseline) return std::nullopt;
  const auto& values =
      is_incumbent ? recommendation->incumbent_objectives : recommendation->baseline_objectives;
  const auto& half_widths =
      is_incumbent ? recommendation->incumbent_half_widths : recommendation->baseline_half_widths;
  for (std::size_t i = 0; i < study.objectives.size() && i < values.size(); ++i) {
    if (!study.objectives[i].is_time()) continue;
    if (!std::isfinite(values[i]) || !(values[i] > 0.0)) return std::nullopt;
    const bool has_half_width = i < half_widths.size();
    return Interval95{values[i], has_half_width ? half_widths[i] : k_nan};
  }
  return std::nullopt;
}

/// True if `run` is a confirming run of the trial's configuration. The figures of the plan are
/// means over such runs.
bool is_fresh_run_of(const TrialRecord& trial, const TrialRecord& run) {
  return is_confirmation(run.purpose) && was_measured(run.status) &&
         run.configuration == trial.configuration && run.measurement;
}

/// Returns the time that a run spends only once, as a mean over the confirming runs. The trial's
/// own start is no good estimate: it may have read data from storage that the confirming runs found
/// in memory.
double planned_once_s(const Measurement& measurement, const TrialRecord& trial,
                      const Standing& standing, const Recommendation& recommendation) {
  if (recommendation.claim == Claim::unconfirmed) return measurement.once_s();
  double sum_s = 0.0;
  double runs = 0.0;
  for (const TrialRecord* run : counted_runs(standing.trials())) {
    if (!is_fresh_run_of(trial, *run)) continue;
    sum_s += run->measurement->once_s();
    runs += 1.0;
  }
  return runs > 0.0 ? sum_s / runs : measurement.once_s();
}

/// Returns the phases whose time is part of the planned run. If the plan declares a phase's period,
/// uses that period.
std::map<std::string, PhaseEstimate> priced_phases(const PlannedRun& plan, const TrialRecord& trial,
                                                   const Standing& standing) {
  std::vector<const Measurement*> shown{&*trial.measurement};
  for (const TrialRecord& run : standing.trials()) {
    if (is_fresh_run_of(trial, run)) shown.push_back(&*run.measurement);
  }
  // Prefer the longest launch, because it has seen the most phases.
  std::ranges::stable_sort(shown, std::greater(), &Measurement::window_samples);
  const TrialRecord* baseline = standing.baseline();
  if (baseline != nullptr && baseline->measurement) shown.push_back(&*baseline->measurement);
  auto phases = shown.front()->phases;
  for (const Measurement* measurement : shown) {
    for (const auto& [name, phase] : measurement->phases) {
      if (!is_stall(name)) phases.try_emplace(name, phase);
    }
  }
  for (const auto& [name, declared] : plan.phases) {
    const auto every = declared_period(declared, *trial.measurement);
    if (!every || !(*every > 0.0)) continue;
    if (!phases.contains(name)) {
      if (!declared.seconds || may_be_stalls(declared, *shown.front())) continue;
      phases[name].seconds = *declared.seconds;
    }
    phases[name].period_samples = *every;
  }
  return phases;
}

}  // namespace

double Promise::per_sample_s(const PhaseEstimate& phase) {
  return phase.period_samples > 0.0 ? phase.seconds / phase.period_samples : 0.0;
}

std::optional<Interval95> Promise::run_s() const {
  if (!samples) return std::nullopt;
  return Interval95{once_s + *samples * seconds_per_sample.value,
                    *samples * seconds_per_sample.half_width};
}

Result<Promise> promise_of(const StudySpec& study, const TrialRecord& trial,
                           const Standing& standing,
                           const std::optional<Recommendation>& recommendation,
                           const std::optional<TrialTrace>& trace) {
  const bool measured = trial.measurement && trial.measurement->seconds_per_sample > 0.0 &&
                        std::isfinite(trial.measurement->seconds_per_sample) &&
                        std::isfinite(trial.measurement->half_width_s);
  if (!measured) {
    return fail(
        ErrorKind::not_found,
        fmt::format("trial {} was not measured: there is nothing to compare with", trial.number),
        {},
        fmt::format("name another one with --trial; 'steptune leaderboard {}' lists them",
                    study.name));
  }
  const Measurement& measurement = *trial.measurement;
  const TrialRecord* baseline = standing.baseline();
  const Measurement* other =
      baseline != nullptr && baseline->measurement ? &*baseline->measurement : nullptr;
  const MeasuredValue time = planned_time(study.planned_run, measurement, other);
  const double samples = planned_samples(study.planned_run);
  const bool has_length = study.planned_run.samples.has_value();
  double once_s = measurement.once_s();
  auto planned = planned_by(study, trial, standing, recommendation);
  if (planned && has_length) {
    const double of_plan_s = planned_once_s(measurement, trial, standing, *recommendation);
    // If the time spent once fills the whole short plan, no time is left from which to compute a
    // rate.
    if (planned->value > of_plan_s) {
      once_s = of_plan_s;
    } else {
      planned.reset();
    }
  }
  const double all_s = planned ? planned->value : time.value;
  const double rate_s = (all_s - (has_length ? once_s : 0.0)) / samples;
  // Both the measured launch and the future one differ from the mean, hence the factor sqrt(2).
  const double launches = std::sqrt(2.0) * standing.launches().relative * rate_s;
  const double half_width_s = planned && std::isfinite(planned->half_width)
                                  ? planned->half_width / samples
                                  : k_z_95 * std::hypot(time.error / samples, launches);
  Promise promise;
  promise.trial = trial.number;
  promise.configuration = trial.configuration;
  promise.seconds_per_sample = {rate_s, half_width_s};
  promise.startup_s = measurement.startup_s;
  promise.once_s = once_s;
  promise.samples = study.planned_run.samples;
  promise.phases = priced_phases(study.planned_run, trial, standing);
  promise.parts = measurement.parts;
  promise.unit = unit_name(study);
  promise.samples_per_step = samples_per_count(study, trial.configuration);
  if (trace) {
    const auto seen = within(trace->machine, measurement.window_begin_s() - trace->spared_startup_s,
                             measurement.window_end_s() - trace->spared_startup_s);
    promise.machine.assign(seen.begin(), seen.end());
  }
  for (const auto& [name, phase] : study.planned_run.phases) {
    const auto every = declared_period(phase, measurement);
    if (every && *every > 0.0) promise.planned_every[name] = *every;
  }
  return promise;
}

}  // namespace steptune
