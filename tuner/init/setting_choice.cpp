// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/setting_choice.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include "tuner/init/knob_declaration.hpp"

namespace steptune {
namespace {

/// An option of a setting, with its value; `true` for a flag.
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

/// True if all options of a setting have its values in the unchanged program.
bool is_set_today(const KnobSetting& setting, const ProgramFacts& program) {
  const auto parts = parts_of(setting);
  return !parts.empty() && std::ranges::all_of(parts, [&](const SettingPart& part) {
    const ProgramOption* option = program.option_called(part.option);
    const auto today = option == nullptr ? std::nullopt : program.today(*option);
    return today && plain_name(today->value) == plain_name(part.value);
  });
}

/// True if the unchanged program uses the first option of the setting.
bool is_used_today(const KnobSetting& setting, const ProgramFacts& program) {
  static const std::set<std::string> k_unused{"", "false", "none", "no", "0", "off"};
  if (setting.args.empty()) return false;
  const ProgramOption* option = program.option_called(setting.args.front());
  const auto today = option == nullptr ? std::nullopt : program.today(*option);
  return today && !k_unused.contains(plain_name(today->value));
}

}  // namespace

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
