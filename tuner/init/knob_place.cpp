// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/knob_place.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tuner/init/knob_declaration.hpp"
#include "tuner/knobs/knob_role.hpp"

namespace steptune {
namespace {

KnobPlace place_in_files(const std::string& key, const ProgramFacts& program) {
  for (const NamedConfig& config : program.configs) {
    const auto setting = std::ranges::find(config.settings, key, &ProgramOption::name);
    const bool is_there = setting != config.settings.end();
    if (is_there && !config.fixed.contains(setting->name)) return {&*setting, &config};
  }
  return {};
}

}  // namespace

KnobPlace place_of(const SpaceKnob& rule, const GuessInput& input) {
  if (input.space == nullptr || !input.space->is_of_a_file()) {
    const ProgramOption* option = input.program.option_called(rule.option);
    if (option != nullptr || input.space != nullptr) return {option, nullptr};
  }
  return place_in_files(rule.option, input.program);
}

std::string why_not_there(const SpaceKnob& rule, const KnobPlace& place,
                          const ProgramFacts& program) {
  if (place.option != nullptr) {
    const auto today = program.today(*place.option);
    return today && today->value == "auto"
               ? fmt::format("\"auto\" in {}: the trainer fills it in", today->from)
               : "";
  }
  for (const NamedConfig& config : program.configs) {
    const auto fixed = config.fixed.find(rule.option);
    if (fixed != config.fixed.end()) return fmt::format("in {}: {}", config.name, fixed->second);
  }
  return "";
}

bool is_set_in_files(const std::string& key, const ProgramFacts& program) {
  return std::ranges::any_of(program.configs, [&](const NamedConfig& config) {
    const auto setting = std::ranges::find(config.settings, key, &ProgramOption::name);
    return setting != config.settings.end() &&
           !is_left_to_program(setting->default_value.value_or(""));
  });
}

std::optional<ProgramFacts::Today> today_of(const SpaceKnob& rule, const ProgramOption& option,
                                            const GuessInput& input) {
  if (auto today = input.program.today(option)) return today;
  if (option.form == OptionForm::flag) {
    return ProgramFacts::Today{"false", "a flag that is not set"};
  }
  const int seen = input.runtimes.computing_threads;
  if (rule.role == to_text(KnobRole::threads) && rule.default_value.empty() && seen > 0) {
    return ProgramFacts::Today{std::to_string(seen), "threads seen while it ran"};
  }
  if (rule.default_value.empty()) return std::nullopt;
  // A default may be an expression over facts: `cpus`.
  const bool is_valid = rule.type != "int" || whole_number(rule.default_value);
  return ProgramFacts::Today{
      is_valid ? rule.default_value
               : fmt::format("{:.0f}", fact_value(rule.default_value, input.machine)),
      fmt::format("the published default of {}", input.space->title)};
}

Value knob_value(const std::string& type, const std::string& text) {
  if (type == "bool") return truth_of(text).value_or(false);
  if (type == "int") return whole_number(text).value_or(0);
  return text;
}

}  // namespace steptune
