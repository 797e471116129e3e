// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/knob_place.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "tuner/config_edit/truth_word.hpp"
#include "tuner/init/knob_declaration.hpp"
#include "tuner/knobs/knob_role.hpp"
#include "tuner/survey/draft.hpp"

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

/// An option in a setting's arguments, and the option's value. A flag has the value `true`.
struct SettingPart {
  std::string option;
  std::string value;
};

std::vector<SettingPart> parts_of(const KnobSetting& setting) {
  std::vector<SettingPart> parts;
  const auto& words = setting.args;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size() && !words[i + 1].starts_with("-");
    parts.push_back({words[i], has_value ? words[i + 1] : "true"});
    if (has_value) ++i;
  }
  return parts;
}

/// True if the unchanged program gives each option of the setting the same value as the setting.
bool is_set_today(const KnobSetting& setting, const ProgramFacts& program) {
  const auto parts = parts_of(setting);
  return !parts.empty() && std::ranges::all_of(parts, [&](const SettingPart& part) {
    const ProgramOption* option = program.option_called(part.option);
    const auto today = option == nullptr ? std::nullopt : program.today(*option);
    return today && plain_name(today->value) == plain_name(part.value);
  });
}

/// True if the unchanged program sets the first option of the setting to a value not in `k_unused`.
bool is_used_today(const KnobSetting& setting, const ProgramFacts& program) {
  static const std::set<std::string> k_unused{"", "false", "none", "no", "0", "off"};
  if (setting.args.empty()) return false;
  const ProgramOption* option = program.option_called(setting.args.front());
  const auto today = option == nullptr ? std::nullopt : program.today(*option);
  return today && !k_unused.contains(plain_name(today->value));
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
  // A default may be an expression over the machine's facts, such as `cpus`.
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

SettingChoice setting_choice(const SpaceKnob& rule, const ProgramFacts& program,
                             const Facts& machine) {
  SettingChoice choice;
  const KnobSetting* without_options = nullptr;
  for (const KnobSetting& setting : rule.settings) {
    const bool is_known = options_of(setting, program).size() == parts_of(setting).size();
    const bool is_today = is_set_today(setting, program);
    if (is_today) choice.today = &setting;
    if (!is_known || !(is_today || holds_here(setting.needs, machine))) continue;
    choice.offered.push_back(&setting);
    if (setting.args.empty()) without_options = &setting;
  }
  if (choice.today != nullptr) return choice;
  for (const KnobSetting& setting : rule.settings) {
    if (!is_used_today(setting, program)) continue;
    choice.unknown = setting.args.front();
    return choice;
  }
  choice.today = without_options;
  return choice;
}

std::vector<ProgramOption> options_of(const KnobSetting& setting, const ProgramFacts& program) {
  std::vector<ProgramOption> options;
  for (const SettingPart& part : parts_of(setting)) {
    if (const ProgramOption* option = program.option_called(part.option)) {
      options.push_back(*option);
    }
  }
  return options;
}

}  // namespace steptune
