// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/space_facts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/document/identifiers.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/knob_place.hpp"
#include "tuner/init/model_files.hpp"
#include "tuner/init/setting_choice.hpp"

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
    ProgramOption option;
    option.name = fact.options.front();
    option.form = option_form(*input_.space);
    const std::vector<std::string> words = option_words(option, fmt::format("{:.0f}", number));
    found_.words.insert(found_.words.end(), words.begin(), words.end());
  }

  const GuessInput& input_;
  NamedModel model_;
  SpaceFacts found_;
};

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

}  // namespace steptune
