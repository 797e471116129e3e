// SPDX-License-Identifier: Apache-2.0
#include "tuner/rehearsal/speed_model.hpp"

#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "search/space/expression.hpp"
#include "trial_runner/rehearsal_stage.hpp"
#include "tuner/study/study_view.hpp"

namespace steptune {

SpeedModel constant_speed(const StudySpec& study) {
  return [&study](const Configuration& configuration) {
    return AssumedSpeed{SimulatedTraining{}.step_s /
                        samples_per_step(study, configuration).value_or(1.0)};
  };
}

Result<SpeedModel> expressed_speed(const StudySpec& study, const std::string& seconds_per_sample) {
  std::vector<std::string> names;
  for (const Parameter& parameter : study.space.parameters())
    names.push_back(parameter.name);
  auto compiled = Expression::compile(seconds_per_sample, names, study.facts);
  if (!compiled) return tl::unexpected(compiled.error());
  auto expression = std::make_shared<Expression>(*std::move(compiled));
  for (const Configuration& configuration : study::example_configurations(study)) {
    const double speed = expression->evaluate(configuration);
    if (speed > 0.0 && std::isfinite(speed)) continue;
    return fail(ErrorKind::usage,
                fmt::format("must be positive, but \"{}\" is {} for {}", seconds_per_sample, speed,
                            configuration.text()),
                "--seconds-per-sample");
  }
  return [expression](const Configuration& configuration) {
    return AssumedSpeed{expression->evaluate(configuration)};
  };
}

std::optional<SpeedModel> recorded_speed(const std::vector<TrialRecord>& trials) {
  std::map<Configuration, AssumedSpeed> known;
  AssumedSpeed mean{0.0, 0.0};
  double count = 0.0;
  for (const TrialRecord& trial : trials) {
    // A program that ends by itself takes the same time again, even if it has no steady state.
    const bool counts = trial.measurement && (is_steady(trial) || is_whole_run(trial));
    if (!counts || !std::isfinite(trial.measurement->seconds_per_sample)) continue;
    const AssumedSpeed speed{trial.measurement->seconds_per_sample, trial.measurement->startup_s};
    known[trial.configuration] = speed;
    mean.seconds_per_sample += speed.seconds_per_sample;
    mean.startup_s += speed.startup_s;
    count += 1.0;
  }
  if (known.empty()) return std::nullopt;
  mean = {mean.seconds_per_sample / count, mean.startup_s / count};
  return [known = std::move(known), mean](const Configuration& configuration) {
    const auto found = known.find(configuration);
    return found == known.end() ? mean : found->second;
  };
}

}  // namespace steptune
