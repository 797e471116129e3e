// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/promise.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/interval.hpp"
#include "tuner/loop/planned_time.hpp"

namespace steptune {
namespace {

constexpr double k_samples_without_plan = 1e6;

/// The confirming runs' time over the trial's own.
double confirmed_share(const StudySpec& study, const TrialRecord& trial,
                       const std::optional<Recommendation>& recommendation) {
  if (!recommendation || recommendation->incumbent_trial != trial.number) return 1.0;
  for (std::size_t i = 0; i < study.objectives.size(); ++i) {
    if (!study.objectives[i].is_time() || i >= trial.objectives.size() ||
        i >= recommendation->incumbent_objectives.size()) {
      continue;
    }
    const double share = recommendation->incumbent_objectives[i] / trial.objectives[i];
    if (std::isfinite(share) && share > 0.0) return share;
  }
  return 1.0;
}

}  // namespace

std::optional<Interval95> Promise::run_s() const {
  if (!samples) return std::nullopt;
  return Interval95{once_s + *samples * seconds_per_sample.value,
                    *samples * seconds_per_sample.half_width};
}

Result<Promise> promise_of(const StudySpec& study, const TrialRecord& trial,
                           const Standing& standing,
                           const std::optional<Recommendation>& recommendation) {
  const bool measured = trial.measurement && trial.measurement->seconds_per_sample > 0.0 &&
                        std::isfinite(trial.measurement->seconds_per_sample) &&
                        std::isfinite(trial.measurement->half_width_s);
  if (!measured) {
    return fail(ErrorKind::not_found,
                fmt::format("trial {} was not measured: it promises nothing", trial.number), {},
                "name another one with --trial; 'steptune leaderboard' lists them");
  }
  const Measurement& measurement = *trial.measurement;
  const TrialRecord* baseline = standing.baseline();
  const Measurement* other =
      baseline != nullptr && baseline->measurement ? &*baseline->measurement : nullptr;
  const UncertainSeconds time = planned_time(study.planned_run, measurement, other);
  const double samples = study.planned_run.samples.value_or(k_samples_without_plan);
  const double once_s = study.planned_run.samples ? measurement.once_s() : 0.0;
  const double rate_s =
      confirmed_share(study, trial, recommendation) * (time.seconds - once_s) / samples;
  // Both the launch that was measured and the one to come differ from the mean.
  const double launches = std::sqrt(2.0) * standing.launches().relative * rate_s;
  Promise promise;
  promise.trial = trial.number;
  promise.configuration = trial.configuration;
  promise.seconds_per_sample = {rate_s,
                                k_z_95 * std::hypot(time.standard_error / samples, launches)};
  promise.startup_s = measurement.startup_s;
  promise.once_s = measurement.once_s();
  promise.samples = study.planned_run.samples;
  promise.phases = measurement.phases;
  promise.parts = measurement.parts;
  promise.samples_per_step = samples_per_step(study, trial.configuration);
  return promise;
}

}  // namespace steptune
