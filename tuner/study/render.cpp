// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tuner/study/study_spec.hpp"

namespace steptune {

RenderedCommand render_command(const StudySpec& study, const Configuration& configuration) {
  RenderedCommand rendered;
  for (const CommandPart& part : study.command) {
    if (part.when && !part.when->holds(configuration)) continue;
    std::vector<std::string> arguments;
    for (const document::StringTemplate& rule : part.args) {
      if (auto argument = rule.render(configuration)) arguments.push_back(*std::move(argument));
    }
    if (arguments.size() != part.args.size()) continue;  // a parameter is inactive: all or nothing
    rendered.argv.insert(rendered.argv.end(), arguments.begin(), arguments.end());
  }
  for (const auto& [name, rule] : study.environment) {
    const auto value = rule.render(configuration);
    // A choice that stands for "nothing" leaves the variable alone; a literal "" sets it to that.
    if (!value || (value->empty() && rule.has_parameters())) continue;
    rendered.environment[name] = *value;
  }
  return rendered;
}

std::optional<double> samples_per_step(const StudySpec& study, const Configuration& configuration) {
  return study.planned_run.batch_size
             ? samples_per_step(*study.planned_run.batch_size, configuration)
             : std::nullopt;
}

std::optional<double> samples_per_step(const document::Formula& batch_size,
                                       const Configuration& configuration) {
  const double samples = batch_size.evaluate(configuration);
  return samples > 0.0 && std::isfinite(samples) ? std::optional(samples) : std::nullopt;
}

std::optional<double> buffered_steps(const StudySpec& study, const Configuration& configuration) {
  if (!study.measure.buffers) return std::nullopt;
  const double steps = study.measure.buffers->evaluate(configuration);
  return steps >= 0.0 ? std::optional(steps) : std::nullopt;
}

double usd_per_hour(const StudySpec& study, const Configuration& configuration) {
  return study.runner->price_of(configuration).value_or(HourlyPrice{}).expected_usd;
}

double on_demand_usd_per_hour(const StudySpec& study, const Configuration& configuration) {
  return study.runner->price_of(configuration).value_or(HourlyPrice{}).on_demand_usd;
}

}  // namespace steptune
