// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/space_laws.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/document/identifiers.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/knob_declaration.hpp"
#include "tuner/init/knob_place.hpp"
#include "tuner/init/model_files.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

using Stated = ProgramFacts::Today;

std::optional<Value> knob_today(const SpaceKnob& knob, const GuessInput& input) {
  if (!knob.settings.empty()) {
    const KnobSetting* today = setting_choice(knob, input.program, input.machine).today;
    return today == nullptr ? std::nullopt : std::optional<Value>(today->label);
  }
  const KnobPlace place = place_of(knob, input);
  const auto today = place.option == nullptr ? std::nullopt : today_of(knob, *place.option, input);
  if (today) return knob_value(knob.type, today->value);
  if (knob.default_value.empty()) return std::nullopt;
  return knob_value(knob.type, knob.default_value);
}

/// Reads the facts of one program in their order.
class FactReader {
 public:
  explicit FactReader(const GuessInput& input) : input_(input), model_(named_model(input)) {
    for (const SpaceKnob& knob : input.space->knobs) {
      if (auto value = knob_today(knob, input)) found_.today.set(knob.parameter, *value);
    }
  }

  SpaceFacts read() && {
    for (const SpaceFact& fact : input_.space->facts)
      read(fact);
    return std::move(found_);
  }

 private:
  void read(const SpaceFact& fact) {
    const auto given = input_.given_facts.find(fact.name);
    if (given != input_.given_facts.end()) return learn(fact, given->second, "--fact");
    for (const std::string& option : fact.options) {
      const auto stated = stated_value(fact, option);
      if (!stated) continue;
      const auto number = parse_finite(stated->value);
      if (number && *number > 0.0) {
        return learn(fact, *number, fmt::format("{} in {}", option, stated->from));
      }
      const bool is_each_gpu = stated->value == "gpu";  // torchrun: a process for each GPU
      if (!is_each_gpu && !is_left_to_program(stated->value)) return want(fact);
    }
    const bool is_hidden = fact.of_model && model_.is_named && !model_.config;
    const double computed = is_hidden ? k_nan : compute(fact.value);
    if (!(computed > 0.0)) return want(fact);
    const bool is_default = document::identifiers_in(fact.value).empty();
    learn(fact, computed, is_default ? "the default" : fact.value);
    if (fact.is_set) set(fact, computed);
  }

  [[nodiscard]] std::optional<Stated> stated_value(const SpaceFact& fact,
                                                   const std::string& option) const {
    if (auto stated = input_.program.stated_in_command(option)) return stated;
    if (fact.of_model && model_.is_named) {
      const ProgramOption* setting =
          model_.config ? find_option(model_.config->settings, plain_name(option)) : nullptr;
      if (setting == nullptr) return std::nullopt;
      return Stated{*setting->default_value, model_.config->name};
    }
    if (auto stated = input_.program.stated(option)) return stated;
    const ProgramOption* known = input_.program.option_called(option);
    return known == nullptr ? std::nullopt : input_.program.today(*known);
  }

  /// Returns the value of an expression; NaN if a number in it is unknown.
  [[nodiscard]] double compute(const std::string& expression) const {
    Facts known = input_.machine;
    known.insert(found_.numbers.begin(), found_.numbers.end());
    return value_today(expression, found_.today, known);
  }

  void learn(const SpaceFact& fact, double number, std::string from) {
    found_.numbers[fact.name] = number;
    found_.from[fact.name] = std::move(from);
  }

  void want(const SpaceFact& fact) {
    const std::string options =
        fact.options.empty() || fact.of_model
            ? ""
            : fmt::format("write {} into the command, or ", fact.options.front());
    found_.wanted[fact.name] = fmt::format("{} is not known: {}call init with --fact {}=NUMBER",
                                           fact.name, options, fact.name);
  }

  void set(const SpaceFact& fact, double number) {
    const ProgramOption option{.name = fact.options.front(), .form = option_form(*input_.space)};
    const std::vector<std::string> words = option_words(option, fmt::format("{:.0f}", number));
    found_.words.insert(found_.words.end(), words.begin(), words.end());
  }

  const GuessInput& input_;
  NamedModel model_;
  SpaceFacts found_;
};

bool mentions(const std::string& expression, const std::string& name) {
  const auto names = document::identifiers_in(expression);
  return std::ranges::find(names, name) != names.end();
}

/// Replaces names in an expression. For each name, `replaced` returns the new text or the name
/// itself.
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

double value_today(const std::string& expression, const Configuration& today, const Facts& facts) {
  std::vector<std::string> parameters;
  for (const auto& [name, value] : today.values())
    parameters.push_back(name);
  const auto compiled = Expression::compile(expression, parameters, facts);
  return compiled ? compiled->evaluate(today) : k_nan;
}

Result<void> check_facts(const Facts& given, const ReadySpace* space) {
  for (const auto& [name, number] : given) {
    std::vector<std::string> names;
    if (space != nullptr) {
      for (const SpaceFact& fact : space->facts)
        names.push_back(fact.name);
    }
    if (std::ranges::find(names, name) != names.end()) continue;
    return fail(ErrorKind::usage, fmt::format("--fact {}: there is no such fact", name), "",
                names.empty() ? "no trainer that has facts was recognised"
                              : fmt::format("{} has {}", space->title, fmt::join(names, ", ")));
  }
  return {};
}

SpaceFacts space_facts(const GuessInput& input) {
  return input.space == nullptr ? SpaceFacts{} : FactReader(input).read();
}

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
  // If the knob has no value today, another check leaves it out later.
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
