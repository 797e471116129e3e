// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/evaluation.hpp"

#include <stdexcept>

namespace steptune::study {

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

Expression compiled(const StudySpec& study, const std::string& text) {
  std::vector<std::string> names;
  for (const Parameter& parameter : study.space.parameters())
    names.push_back(parameter.name);
  auto expression = Expression::compile(text, names, study.facts);
  if (!expression) throw std::logic_error(expression.error().text());
  return *std::move(expression);
}

TextTemplate parsed(const std::string& text) {
  auto sound = TextTemplate::parse(text);
  if (!sound) throw std::logic_error(sound.error().text());
  return *std::move(sound);
}

}  // namespace steptune::study
