// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "tuner/study/study_spec.hpp"
#include "tuner/study/text_template.hpp"

namespace steptune {
namespace {

std::optional<std::string> value_text(const StudySpec& study, const Configuration& configuration,
                                      const std::string& name) {
  const Value* value = configuration.find(name);
  if (value == nullptr) return std::nullopt;
  std::string text = to_text(*value);
  const auto texts = study.choice_texts.find(name);
  if (texts == study.choice_texts.end()) return text;
  const auto found = texts->second.find(text);
  return found == texts->second.end() ? text : found->second;
}

/// Expressions and templates of a `StudySpec` have been checked, so a fault is the program's own.
Expression compile(const StudySpec& study, const std::string& text) {
  std::vector<std::string> names;
  for (const Parameter& parameter : study.space.parameters())
    names.push_back(parameter.name);
  auto expression = Expression::compile(text, names, study.facts);
  if (!expression) throw std::logic_error(expression.error().text());
  return *std::move(expression);
}

study::TextTemplate parse(const std::string& text) {
  auto parsed = study::TextTemplate::parse(text);
  if (!parsed) throw std::logic_error(parsed.error().text());
  return *std::move(parsed);
}

}  // namespace

RenderedCommand render_command(const StudySpec& study, const Configuration& configuration) {
  const auto value_of = [&](const std::string& name) {
    return value_text(study, configuration, name);
  };
  RenderedCommand rendered;
  for (const CommandPart& part : study.command) {
    if (part.when && !compile(study, *part.when).holds(configuration)) continue;
    std::vector<std::string> arguments;
    for (const std::string& text : part.args) {
      if (auto argument = parse(text).render(value_of)) arguments.push_back(*std::move(argument));
    }
    if (arguments.size() != part.args.size()) continue;  // a parameter is inactive: all or nothing
    rendered.argv.insert(rendered.argv.end(), arguments.begin(), arguments.end());
  }
  for (const auto& [name, text] : study.environment) {
    const auto parsed = parse(text);
    const auto value = parsed.render(value_of);
    // A choice that stands for "nothing" leaves the variable alone; a literal "" sets it to that.
    if (!value || (value->empty() && parsed.has_parameters())) continue;
    rendered.environment[name] = *value;
  }
  return rendered;
}

std::optional<double> samples_per_step(const StudySpec& study, const Configuration& configuration) {
  if (!study.planned_run.batch_size) return std::nullopt;
  const double samples = compile(study, *study.planned_run.batch_size).evaluate(configuration);
  return samples > 0.0 ? std::optional(samples) : std::nullopt;
}

}  // namespace steptune
