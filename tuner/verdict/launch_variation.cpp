// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/launch_variation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "common/interval.hpp"
#include "common/numbers.hpp"
#include "trial_runner/measure/usual_noise.hpp"
#include "tuner/verdict/disturbed_runs.hpp"
#include "tuner/verdict/machine_drift.hpp"

namespace steptune {
namespace {

/// Launches of one configuration.
struct Launches {
  std::vector<double> logs;      ///< logarithms of the first objective
  double within_variance = 0.0;  ///< sum of the launches' own squared relative errors
};

/// Assumed variation within a whole run whose steps do not show it, as a share of its value.
constexpr double k_within_whole_run = 0.025;

/// Returns the standard error of the time of phases, in seconds per sample.
double phase_error_s(const Measurement& m) {
  return std::sqrt(std::max(
             0.0, m.half_width_s * m.half_width_s - m.step_half_width_s * m.step_half_width_s)) /
         k_z_95;
}

/// True if the speed of earlier trials was not the reason to run this trial. Selected trials would
/// bias the variation.
bool was_not_selected(const TrialRecord& trial, const MachineDrift& drift) {
  if (is_confirmation(trial.purpose)) return true;
  const bool baseline =
      trial.purpose == TrialPurpose::baseline || trial.purpose == TrialPurpose::sentinel;
  return baseline && !drift.is_significant();
}

}  // namespace

double ratio_error(const TrialRecord& trial) {
  if (!trial.measurement || !std::isfinite(trial.measurement->ratio_error)) {
    return k_nan;
  }
  const Measurement& m = *trial.measurement;
  return std::hypot(m.ratio_error, phase_error_s(m) / m.seconds_per_sample);
}

bool is_whole_run(const TrialRecord& trial) {
  return trial.measurement && trial.measurement->whole_run;
}

bool is_steady(const TrialRecord& trial) {
  return !trial.measurement || trial.measurement->status == MeasurementStatus::steady;
}

double relative_error(const TrialRecord& trial) {
  const double value = std::abs(trial.objectives[0]);
  return value > 0.0 ? trial.standard_errors[0] / value : 0.0;
}

double error_within_run(const TrialRecord& trial) {
  const double error = relative_error(trial);
  if (!trial.measurement) return error;
  const Measurement& m = *trial.measurement;
  const double own_s = std::hypot(m.step_standard_error_s, phase_error_s(m));
  const double total_s = m.half_width_s / k_z_95;
  return std::isfinite(own_s) && own_s < total_s ? error * own_s / total_s : error;
}

KnownLaunches launch_scatters(const std::vector<TrialRecord>& trials, const MachineDrift& drift) {
  std::vector<const TrialRecord*> launches;
  const bool is_shared = machine_is_shared(trials);
  for (const TrialRecord& trial : trials) {
    const bool measured = trial.status == TrialStatus::completed && !trial.objectives.empty() &&
                          trial.objectives[0] > 0.0 && !trial.standard_errors.empty();
    // On a shared machine, runs in turns differ because of other programs. Only their ratios show
    // how launches differ (`statistics_of`).
    const bool may_differ_by_neighbours = is_shared && trial.placement.contains(k_interleaved_fact);
    if (measured && !may_differ_by_neighbours && was_not_selected(trial, drift)) {
      launches.push_back(&trial);
    }
  }
  std::map<Configuration, Launches> groups;
  for (const TrialRecord* trial : without_disturbed(std::move(launches))) {
    Launches& group = groups[trial->configuration];
    group.logs.push_back(std::log(trial->objectives[0]));
    const bool shows_error_within = is_steady(*trial) || !is_whole_run(*trial);
    const double within = shows_error_within ? error_within_run(*trial) : 0.0;
    group.within_variance += within * within;
  }
  KnownLaunches scatters;
  for (const auto& [configuration, group] : groups) {
    if (group.logs.size() < 2 || !std::isfinite(group.within_variance)) continue;
    const auto count = static_cast<double>(group.logs.size());
    scatters.push_back({scatter_of(group.logs), group.within_variance / count});
  }
  return scatters;
}

LaunchVariation estimate_launch_variation(const std::vector<TrialRecord>& trials,
                                          const MachineDrift& drift) {
  LaunchVariation variation;
  double squares = variation.degrees_of_freedom * variation.relative * variation.relative;
  squares += drift.launches().squares;
  variation.degrees_of_freedom += drift.launches().degrees_of_freedom;
  for (const auto& [scatter, within_variance] : launch_scatters(trials, drift)) {
    squares += std::max(0.0, scatter.squares - scatter.degrees_of_freedom * within_variance);
    variation.degrees_of_freedom += scatter.degrees_of_freedom;
  }
  variation.relative = std::sqrt(squares / variation.degrees_of_freedom);
  return variation;
}

double usual_variance_s(const std::vector<TrialRecord>& trials) {
  std::vector<const TrialRecord*> measured;
  for (const TrialRecord& trial : trials) {
    // A trial that was stopped early has too short a measurement.
    const bool ran_to_its_end =
        is_final(trial.status) && trial.status != TrialStatus::stopped_early;
    if (ran_to_its_end && trial.measurement) measured.push_back(&trial);
  }
  UsualNoise usual;
  for (const TrialRecord* trial : without_disturbed(std::move(measured)))
    usual.add(*trial->measurement);
  return usual.variance_s();
}

double error_among_launches(const TrialRecord& trial, std::size_t objective,
                            const LaunchVariation& variation) {
  const double error =
      objective < trial.standard_errors.size() ? trial.standard_errors[objective] : 0.0;
  if (error > 0.0 && is_whole_run(trial) && !is_steady(trial)) {
    const bool were_repeated = variation.degrees_of_freedom > LaunchVariation{}.degrees_of_freedom;
    return trial.objectives[objective] * (were_repeated
                                              ? variation.relative
                                              : std::hypot(variation.relative, k_within_whole_run));
  }
  return error_among_launches(trial.objectives[objective], error, variation);
}

double error_among_launches(double value, double standard_error, const LaunchVariation& variation) {
  if (!(standard_error > 0.0)) return standard_error;
  return std::hypot(standard_error, variation.relative * value);
}

}  // namespace steptune
