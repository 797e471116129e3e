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

/// What a study says of a long run with one trial's configuration.
struct Promise {
  std::int64_t trial = 0;
  Configuration configuration;
  /// Of the long run, phases included; the interval is that of another launch, so it holds the
  /// variation from launch to launch, too.
  Interval95 seconds_per_sample;
  double startup_s = 0.0;
  double once_s = 0.0;            ///< start-up and what the warm-up takes beyond steady steps
  std::optional<double> samples;  ///< of the planned run
  /// That the price holds: as the trial, other launches of its configuration or the baseline showed
  /// them, or as the plan says (none counted), as often as the plan declares.
  std::map<std::string, PhaseEstimate> phases;
  std::map<std::string, double> planned_every;  ///< samples between the plan's phases, by name
  std::map<std::string, double> parts;          ///< seconds per sample by part
  std::optional<double> samples_per_step;
  UnitName unit;                       ///< of the study's samples
  std::vector<MachineSecond> machine;  ///< of the trial's measured window; empty: nobody looked

  /// Seconds per sample that a phase takes of the price; 0 where its period is not known.
  [[nodiscard]] static double per_sample_s(const PhaseEstimate& phase);
  /// The planned run's time; nothing where the plan tells no number of samples.
  [[nodiscard]] std::optional<Interval95> run_s() const;
};

/// What the study promises of `trial`: of the recommended one and of the baseline what the plan of
/// `recommendation` says, to which the confirming runs have contributed; of others what they
/// measured. `trace`: of the trial, if there is one. Errors (`not_found`): the trial was not
/// measured.
[[nodiscard]] Result<Promise> promise_of(const StudySpec& study, const TrialRecord& trial,
                                         const Standing& standing,
                                         const std::optional<Recommendation>& recommendation,
                                         const std::optional<TrialTrace>& trace = {});

}  // namespace steptune
