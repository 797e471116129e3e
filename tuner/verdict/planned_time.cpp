// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/planned_time.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "common/interval.hpp"
#include "common/text.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/measure/report_times.hpp"
#include "tuner/study/counted_steps.hpp"

namespace steptune {
namespace {

/// Without a planned run, time and cost are those of a million samples.
constexpr double k_samples_without_plan = 1e6;
/// Assumed standard deviation of a phase's duration, as a share, if the phase was seen only once.
/// Evaluations of the same model over the same data differ by little, checkpoints on shared storage
/// by more.
constexpr double k_spread_of_one = 0.25;

/// A phase's contribution to a run.
struct PhaseShare {
  double every_samples = 0.0;
  double every_samples_error = 0.0;
  double seconds = 0.0;
  double seconds_error = 0.0;
};

double or_zero(double value) {
  return std::isfinite(value) ? value : 0.0;
}

const PhaseEstimate* find(const Measurement* measurement, const std::string& name) {
  if (measurement == nullptr) return nullptr;
  const auto found = measurement->phases.find(name);
  const bool seen = found != measurement->phases.end() && found->second.count > 0.0 &&
                    std::isfinite(found->second.seconds);
  return seen ? &found->second : nullptr;
}

void set_duration(const PhaseEstimate& seen, PhaseShare& share) {
  share.seconds = std::max(0.0, seen.seconds);
  share.seconds_error =
      std::isfinite(seen.seconds_error) ? seen.seconds_error : k_spread_of_one * share.seconds;
}

bool has_period(const PhaseEstimate& seen) {
  return seen.period_samples > 0.0 && std::isfinite(seen.period_samples);
}

bool came_only_at_start(const PhaseEstimate& seen) {
  return std::isnan(samples_between(seen));
}

/// Sets the number of samples between phases. If no period was seen, assumes that the count of
/// phases is Poisson distributed.
void set_period(const PhaseEstimate& seen, PhaseShare& share) {
  share.every_samples = samples_between(seen);
  share.every_samples_error =
      has_period(seen) ? or_zero(seen.period_error) : share.every_samples / std::sqrt(seen.count);
}

double samples_per_step_of(const Measurement& measurement) {
  return measurement.window_steps > 0.0 ? measurement.window_samples / measurement.window_steps
                                        : 1.0;
}

/// Returns the phase's contribution; nullopt if neither the plan nor a trial shows its duration and
/// its period.
std::optional<PhaseShare> phase_share(const PlannedRun& plan, const std::string& name,
                                      const Measurement& measurement, const Measurement* other) {
  const auto planned = plan.phases.find(name);
  const PlannedPhase* declared = planned == plan.phases.end() ? nullptr : &planned->second;
  const PhaseEstimate* own = find(&measurement, name);
  const PhaseEstimate* others = is_stall(name) ? nullptr : find(other, name);
  PhaseShare share;
  if (own != nullptr || others != nullptr) {
    set_duration(own != nullptr ? *own : *others, share);
  } else if (declared != nullptr && declared->seconds && !may_be_stalls(*declared, measurement)) {
    share.seconds = *declared->seconds;
  } else {
    return std::nullopt;
  }
  const auto period = declared == nullptr ? std::nullopt : declared_period(*declared, measurement);
  if (period) {
    share.every_samples = *period;
  } else if (own != nullptr && !came_only_at_start(*own)) {
    set_period(*own, share);
  } else if (others != nullptr && !came_only_at_start(*others)) {
    set_period(*others, share);
  } else if (plan.samples && (own != nullptr || others != nullptr)) {
    share.every_samples = *plan.samples / (own != nullptr ? *own : *others).count;
  }
  if (!(share.every_samples > 0.0)) return std::nullopt;
  return share;
}

std::set<std::string> phase_names(const PlannedRun& plan, const Measurement& measurement,
                                  const Measurement* other) {
  std::set<std::string> names;
  for (const auto& [name, phase] : plan.phases)
    names.insert(name);
  for (const auto& [name, phase] : measurement.phases)
    names.insert(name);
  if (other == nullptr) return names;
  for (const auto& [name, phase] : other->phases)
    names.insert(name);
  return names;
}

/// Returns the seconds, by name, of phases whose period neither the plan nor any trial shows.
std::map<std::string, double> phases_only_at_start(const PlannedRun& plan,
                                                   const std::vector<TrialRecord>& trials) {
  std::map<std::string, double> only_at_start;
  std::set<std::string> with_period;
  for (const TrialRecord& trial : trials) {
    if (!trial.measurement) continue;
    const double notable_s = k_negligible_share * trial.measurement->window_end_s();
    for (const auto& [name, seen] : trial.measurement->phases) {
      if (plan.phases.contains(name) || !came_only_at_start(seen)) {
        with_period.insert(name);
      } else if (seen.count * seen.seconds >= notable_s) {
        only_at_start.emplace(name, seen.count * seen.seconds);
      }
    }
  }
  for (const std::string& name : with_period)
    only_at_start.erase(name);
  return only_at_start;
}

}  // namespace

bool is_stall(const std::string& phase) {
  return phase.starts_with(k_stall_phase);
}

double samples_between(const PhaseEstimate& seen) {
  return has_period(seen) ? seen.period_samples : seen.spacing_samples;
}

std::optional<double> declared_period(const PlannedPhase& declared,
                                      const Measurement& measurement) {
  if (declared.every_samples) return declared.every_samples;
  if (!measurement.steps_known.value_or(true)) return std::nullopt;
  return declared.every_steps.value_or(0.0) * samples_per_step_of(measurement);
}

bool may_be_stalls(const PlannedPhase& declared, const Measurement& measurement) {
  const auto period = declared_period(declared, measurement);
  const double due = period ? std::floor(measurement.window_samples / *period) : 0.0;
  double stalls = 0.0;
  for (const auto& [name, phase] : measurement.phases) {
    const bool as_long = phase.seconds >= k_least_of_expected * declared.seconds.value_or(0.0);
    if (is_stall(name) && as_long) stalls += phase.count;
  }
  return due >= 1.0 && stalls >= due;
}

double planned_samples(const PlannedRun& plan) {
  return plan.samples.value_or(k_samples_without_plan);
}

bool is_longer_than(const PlannedRun& plan, const Measurement& whole_run) {
  return plan.samples && *plan.samples > (1.0 + k_same_count) * whole_run.total_samples;
}

MeasuredValue planned_time(const PlannedRun& plan, const Measurement& measurement,
                           const Measurement* other) {
  const double samples = planned_samples(plan);
  const double once_s = plan.samples ? measurement.once_s() : 0.0;
  const bool apart = measurement.step_seconds_per_sample > 0.0 &&
                     std::isfinite(measurement.step_seconds_per_sample) &&
                     std::isfinite(measurement.step_half_width_s);
  const double rate_s =
      apart ? measurement.step_seconds_per_sample : measurement.seconds_per_sample;
  const double half_width_s = apart ? measurement.step_half_width_s : measurement.half_width_s;
  MeasuredValue time{once_s + samples * rate_s, 0.0};
  double variance = std::pow(samples * half_width_s / k_z_95, 2);
  for (const std::string& name : phase_names(plan, measurement, other)) {
    // The mean rate already includes this phase.
    if (!apart && find(&measurement, name) != nullptr) continue;
    const auto share = phase_share(plan, name, measurement, other);
    if (!share) continue;
    const double times = samples / share->every_samples;
    time.value += times * share->seconds;
    const double period_error = share->every_samples_error / share->every_samples;
    variance += std::pow(times * share->seconds_error, 2) +
                std::pow(times * share->seconds * period_error, 2);
  }
  time.error = std::sqrt(variance);
  return time;
}

std::vector<std::string> unseen_phases(const PlannedRun& plan,
                                       const std::vector<TrialRecord>& trials) {
  std::vector<std::string> warnings;
  for (const auto& [name, seconds] : phases_only_at_start(plan, trials)) {
    warnings.push_back(fmt::format(
        "{} came only in the first steps and took {}: how often it comes is not known, so it is "
        "priced once; give its \"every_steps\" in \"planned_run\"",
        name, format_duration(seconds)));
  }
  const double samples = planned_samples(plan);
  for (const auto& [name, phase] : plan.phases) {
    const bool has_no_period = std::ranges::any_of(trials, [&](const TrialRecord& trial) {
      return trial.measurement && !declared_period(phase, *trial.measurement);
    });
    if (has_no_period) {
      warnings.push_back(fmt::format(
          "the program reports no steps, so \"every_steps\" of {} cannot be used: it is "
          "priced as often as it was seen; give \"every_samples\", or \"batch_size\"",
          name));
      continue;
    }
    const auto any_trial = [&](const auto& shows) {
      return std::ranges::any_of(trials, [&](const TrialRecord& trial) {
        return trial.measurement && shows(*trial.measurement);
      });
    };
    if (any_trial([&](const auto& shown) { return find(&shown, name) != nullptr; })) continue;
    const std::string count =
        phase.every_samples ? fmt::format("{:.0f}", std::floor(samples / *phase.every_samples))
                            : fmt::format("one every {:g} steps", phase.every_steps.value_or(0.0));
    if (any_trial([&](const auto& shown) { return may_be_stalls(phase, shown); })) {
      warnings.push_back(
          fmt::format("no {} was reported: the pauses seen in trials are assumed to be the plan's "
                      "({}){}",
                      name, count, phase.seconds ? "; its \"seconds\" are not added" : ""));
    } else if (phase.seconds) {
      warnings.push_back(
          fmt::format("no {} was seen: the plan's ({}) are priced with the {} that it gives", name,
                      count, format_duration(*phase.seconds)));
    } else if (name == "epoch_end") {
      warnings.push_back(fmt::format(
          "no trial reached the end of an epoch: the time of the plan's {}, with any evaluation or "
          "checkpoint there, is not included; add \"seconds\" in \"planned_run\" to include it",
          count));
    } else {
      warnings.push_back(fmt::format(
          "no {} was seen and the plan gives no \"seconds\": the plan's ({}) are not included",
          name, count));
    }
  }
  return warnings;
}

std::optional<std::string> missed_limit(const PlannedRun& plan, const MeasuredValue& time,
                                        double usd_per_hour) {
  if (plan.deadline_s && time.value > *plan.deadline_s) {
    return fmt::format("the planned run takes {}, its deadline is {}", format_duration(time.value),
                       format_duration(*plan.deadline_s));
  }
  const double usd = usage_usd(usd_per_hour, time.value);
  if (plan.max_cost_usd && usd > *plan.max_cost_usd) {
    return fmt::format("the planned run costs {}, at most {} is allowed", format_usd(usd),
                       format_usd(*plan.max_cost_usd));
  }
  return std::nullopt;
}

}  // namespace steptune
