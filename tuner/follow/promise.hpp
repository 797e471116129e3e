// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "trial_runner/machine_second.hpp"
#include "trial_runner/measure/measurement.hpp"
#include "tuner/history/history.hpp"
#include "tuner/history/trial_trace.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/study/unit_name.hpp"
#include "tuner/verdict/recommendation.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// A value and the half-width of its 95 % interval.
struct Interval95 {
  double value = 0.0;
  double half_width = 0.0;
  [[nodiscard]] double low() const { return value - half_width; }
  [[nodiscard]] double high() const { return value + half_width; }
};

/// Time that a study promises for a long run with one trial's configuration.
struct Promise {
  std::int64_t trial = 0;
  Configuration configuration;
  /// Seconds per sample of the long run, including phases. The long run is another launch than the
  /// trial, so the interval includes the variation between launches.
  Interval95 seconds_per_sample;
  double startup_s = 0.0;
  double once_s = 0.0;            ///< start-up, and the excess of the warm-up over steady steps
  std::optional<double> samples;  ///< samples of the planned run
  /// Phases whose time `seconds_per_sample` includes, with the periods that the plan declares. A
  /// duration comes from the trial, or from other launches of its configuration, or from the
  /// baseline. If none of these ran the phase, the duration comes from the plan and the count is 0.
  std::map<std::string, PhaseEstimate> phases;
  std::map<std::string, double> planned_every;  ///< samples between the plan's phases, by name
  std::map<std::string, double> parts;          ///< seconds per sample by part
  std::optional<double> samples_per_step;
  UnitName unit;  ///< name of the study's samples
  /// Figures of the machine in the trial's measured window; empty: not observed.
  std::vector<MachineSecond> machine;

  /// Returns the seconds per sample that a phase adds; 0 if its period is not known.
  [[nodiscard]] static double per_sample_s(const PhaseEstimate& phase);
  /// Returns the planned run's time; nullopt if the plan gives no number of samples.
  [[nodiscard]] std::optional<Interval95> run_s() const;
};

/// Returns the study's promise for `trial`. For the recommended trial and the baseline, the promise
/// is the plan of `recommendation`, which uses the confirming runs. For other trials, the promise
/// is computed from their own measurement. `trace` is the trial's trace, if there is one. Fails
/// with `not_found` if the trial was not measured.
[[nodiscard]] Result<Promise> promise_of(const StudySpec& study, const TrialRecord& trial,
                                         const Standing& standing,
                                         const std::optional<Recommendation>& recommendation,
                                         const std::optional<TrialTrace>& trace = {});

}  // namespace steptune
