// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/space_laws.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "tuner/init/knob_declaration.hpp"

namespace steptune {
namespace {

bool mentions(const std::string& expression, const std::string& name) {
  const auto names = document::identifiers_in(expression);
  return std::ranges::find(names, name) != names.end();
}

/// Replaces names in an expression. `replaced` returns the new text, or the name itself.
std::string with_names_replaced(const std::string& expression,
                                const std::function<std::string(const std::string&)>& replaced) {
  std::string text;
  std::size_t at = 0;
  for (const std::string& name : document::identifiers_in(expression)) {
    const std::size_t begin = expression.find(name, at);
    text += expression.substr(at, begin - at) + replaced(name);
    at = begin + name.size();
  }
  return text + expression.substr(at);
}

/// True if an expression mentions a parameter of the study.
bool is_of_study(const std::string& expression, const StudyBuilder& study) {
  const auto names = document::identifiers_in(expression);
  return std::ranges::any_of(names, [&](const std::string& name) { return study.has(name); });
}

}  // namespace

SpaceLaws::SpaceLaws(const GuessInput& input, SpaceFacts facts)
    : input_(input), found_(std::move(facts)), facts_(input.machine) {
  facts_.insert(found_.numbers.begin(), found_.numbers.end());
}

SpaceKnob SpaceLaws::with_numbers(SpaceKnob rule) const {
  for (std::string* bound : {&rule.low, &rule.high}) {
    const bool has_fact = std::ranges::any_of(
        found_.numbers, [&](const auto& fact) { return mentions(*bound, fact.first); });
    if (has_fact) *bound = fmt::format("{:.0f}", std::floor(fact_value(*bound, facts_)));
  }
  return rule;
}

std::string SpaceLaws::why_unknown(const std::string& expression) const {
  for (const std::string& name : document::identifiers_in(expression)) {
    const auto wanted = found_.wanted.find(name);
    if (wanted != found_.wanted.end()) return wanted->second;
    const auto knob = std::ranges::find(input_.space->knobs, name, &SpaceKnob::parameter);
    if (knob != input_.space->knobs.end() && !found_.today.contains(name)) {
      return fmt::format("it depends on {}, whose value is not known",
                         knob->option.empty() ? knob->parameter : knob->option);
    }
  }
  return "";
}

std::string SpaceLaws::why_fixed(const SpaceKnob& rule) const {
  // A knob without a value today is left out later, for that reason.
  if (input_.space == nullptr || !found_.today.contains(rule.parameter)) return "";
  for (const std::string* expression : {&rule.low, &rule.high, &rule.needs}) {
    if (std::string why = why_unknown(*expression); !why.empty()) return why;
  }
  for (const SpaceLaw& law : input_.space->laws) {
    if (!mentions(law.law, rule.parameter)) continue;
    if (std::string why = why_unknown(law.law); !why.empty()) return why;
    const double held = value_today(law.law, found_.today, facts_);
    if (std::isnan(held) || held == 0.0) {
      return fmt::format("today's values break a rule of {}: {} ({}){}", input_.space->title,
                         law.law, law.why, sources(law.law));
    }
  }
  return "";
}

std::string SpaceLaws::sources(const std::string& law) const {
  std::string text;
  for (const auto& [name, from] : found_.from) {
    if (!mentions(law, name)) continue;
    text += fmt::format("; {} {} from {}", name, found_.numbers.at(name), from);
  }
  return text;
}

std::string SpaceLaws::in_study(const std::string& law, const StudyBuilder& study) const {
  return with_names_replaced(law, [&](const std::string& name) {
    const auto fact = found_.numbers.find(name);
    if (fact != found_.numbers.end()) return fmt::format("{}", fact->second);
    const Value* today = found_.today.find(name);
    if (study.has(name) || today == nullptr) return name;
    const auto* text = std::get_if<std::string>(today);
    return text != nullptr ? fmt::format("'{}'", *text) : fmt::format("{}", to_number(*today));
  });
}

void SpaceLaws::add_to(StudyBuilder& study) const {
  if (input_.space == nullptr) return;
  for (const SpaceLaw& law : input_.space->laws) {
    if (!is_of_study(law.law, study)) continue;
    study.add_constraint(in_study(law.law, study),
                         fmt::format("{}: {}{}", law.law, law.why, sources(law.law)));
  }
}

std::vector<std::string> SpaceLaws::memory_terms(const StudyBuilder& study) const {
  std::vector<std::string> terms;
  if (input_.space == nullptr) return terms;
  for (const std::string& term : input_.space->memory_terms) {
    if (is_of_study(term, study) && why_unknown(term).empty()) {
      terms.push_back(in_study(term, study));
    }
  }
  return terms;
}

}  // namespace steptune
