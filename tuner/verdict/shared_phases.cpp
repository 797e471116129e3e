// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/shared_phases.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "common/numbers.hpp"
#include "tuner/study/counted_steps.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

using Measurements = std::vector<const Measurement*>;

/// Returns the phase if the measurement shows one that runs share; otherwise null.
const PhaseEstimate* find(const Measurement& measurement, const std::string& name) {
  const auto found = measurement.phases.find(name);
  const bool is_shared = found != measurement.phases.end() && !is_stall(name) &&
                         found->second.count > 0.0 && std::isfinite(found->second.seconds);
  return is_shared ? &found->second : nullptr;
}

std::set<std::string> names_of_shared(const Measurements& measurements) {
  std::set<std::string> names;
  for (const Measurement* measurement : measurements) {
    for (const auto& [name, phase] : measurement->phases) {
      if (find(*measurement, name) != nullptr) names.insert(name);
    }
  }
  return names;
}

bool show(const Measurements& measurements, const std::string& name) {
  return std::ranges::any_of(measurements, [&](const Measurement* measurement) {
    return find(*measurement, name) != nullptr;
  });
}

/// True if the measurements show how often the phase comes.
bool show_period(const Measurements& measurements, const std::string& name) {
  return std::ranges::any_of(measurements, [&](const Measurement* measurement) {
    const PhaseEstimate* seen = find(*measurement, name);
    return seen != nullptr && !std::isnan(samples_between(*seen));
  });
}

/// Returns the phase's mean duration and mean count among those measurements that show it. At least
/// one shows it.
PhaseEstimate mean_phase(const Measurements& measurements, const std::string& name) {
  PhaseEstimate mean{.seconds_error = 0.0};
  double showing = 0.0;
  for (const Measurement* measurement : measurements) {
    const PhaseEstimate* seen = find(*measurement, name);
    if (seen == nullptr) continue;
    const double count = mean.count + seen->count;
    mean.seconds += (seen->seconds - mean.seconds) * seen->count / count;
    mean.seconds_error =
        std::hypot(mean.seconds_error * mean.count, seen->seconds_error * seen->count) / count;
    mean.count = count;
    ++showing;
  }
  mean.count /= showing;
  return mean;
}

/// Sets how often the phase comes: its most certain period in `measurements`, or else all their
/// samples divided by its count. A phase that came only at the start has neither. The period counts
/// as exact, because its error is the same for all runs and hardly changes their ratios.
void set_period(const Measurements& measurements, const std::string& name, PhaseEstimate& phase) {
  phase.period_samples = phase.spacing_samples = k_nan;
  phase.period_error = 0.0;
  double least_error = k_infinity;
  double samples = 0.0;
  double count = 0.0;
  for (const Measurement* measurement : measurements) {
    samples += measurement->total_samples;
    const PhaseEstimate* seen = find(*measurement, name);
    if (seen == nullptr || std::isnan(samples_between(*seen))) continue;
    count += seen->count;
    if (seen->period_samples > 0.0 && seen->period_error <= least_error) {
      phase.period_samples = seen->period_samples;
      least_error = seen->period_error;
    }
  }
  if (std::isnan(phase.period_samples) && count > 0.0 && samples > 0.0) {
    phase.period_samples = samples / count;
  }
}

bool pays_for_phases_apart(const TrialRecord& run) {
  return run.measurement && !run.objectives.empty() && !run.measurement->whole_run &&
         run.measurement->step_seconds_per_sample > 0.0 &&
         std::isfinite(run.measurement->step_seconds_per_sample) &&
         std::isfinite(run.measurement->step_half_width_s);
}

Measurements measurements_of(const std::vector<const TrialRecord*>& runs) {
  Measurements measurements;
  for (const TrialRecord* run : runs) {
    if (pays_for_phases_apart(*run)) measurements.push_back(&*run->measurement);
  }
  return measurements;
}

Measurements of_configuration(const std::vector<const TrialRecord*>& runs,
                              const Configuration& configuration) {
  std::vector<const TrialRecord*> same = runs;
  std::erase_if(same, [&](const TrialRecord* run) { return run->configuration != configuration; });
  return measurements_of(same);
}

/// Returns the measurements with as many samples per step as `own`. An evaluation every 100 steps
/// comes after more samples if the batch is larger.
Measurements of_batch(const Measurements& measurements, const Measurement& own) {
  Measurements same = measurements;
  std::erase_if(same, [&](const Measurement* other) {
    const double samples = own.window_samples * other->window_steps;
    return std::abs(other->window_samples * own.window_steps - samples) > k_same_count * samples;
  });
  return same;
}

/// Returns the run's measurement with all phases that `all` shows.
Measurement with_all_phases(const Measurement& own, const Measurements& same_configuration,
                            const Measurements& all) {
  Measurement result = own;
  const Measurements same_batch = of_batch(all, own);
  for (const std::string& name : names_of_shared(all)) {
    PhaseEstimate& phase = result.phases[name];
    if (find(own, name) == nullptr) {
      phase = mean_phase(show(same_configuration, name) ? same_configuration : all, name);
    }
    set_period(show_period(same_batch, name) ? same_batch : all, name, phase);
  }
  return result;
}

/// Changes the run's times and costs from the price `before` to the price `after`.
void reprice(const StudySpec& study, const MeasuredValue& before, const MeasuredValue& after,
             TrialRecord& run) {
  const double further_variance = std::pow(after.error, 2) - std::pow(before.error, 2);
  const std::size_t count = std::min(run.objectives.size(), study.objectives.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (!study.objectives[i].is_timed()) continue;
    const double per_second = run.objectives[i] / before.value;
    run.objectives[i] += per_second * (after.value - before.value);
    if (i >= run.standard_errors.size()) continue;
    const double variance = std::pow(run.standard_errors[i] / per_second, 2) + further_variance;
    run.standard_errors[i] = per_second * std::sqrt(std::max(variance, 0.0));
  }
}

}  // namespace

std::vector<TrialRecord> with_shared_phases(const StudySpec& study,
                                            const std::vector<const TrialRecord*>& runs,
                                            const Measurement* baseline) {
  Measurements all = measurements_of(runs);
  if (baseline != nullptr) all.push_back(baseline);
  std::vector<TrialRecord> result;
  if (names_of_shared(all).empty()) return result;
  result.reserve(runs.size());
  for (const TrialRecord* run : runs) {
    TrialRecord& copy = result.emplace_back(*run);
    if (!pays_for_phases_apart(*run)) continue;
    const Measurement& own = *run->measurement;
    const Measurement with_all =
        with_all_phases(own, of_configuration(runs, run->configuration), all);
    reprice(study, planned_time(study.planned_run, own, baseline),
            planned_time(study.planned_run, with_all), copy);
  }
  return result;
}

}  // namespace steptune
