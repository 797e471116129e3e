// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/program_facts.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/machine/system_files.hpp"
#include "tuner/config_edit/config_file.hpp"
#include "tuner/config_edit/file_references.hpp"
#include "tuner/config_edit/truth_word.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/python_source.hpp"
#include "tuner/study/limits.hpp"

namespace steptune {
namespace {

/// Returns the kind of a setting. A word has an unknown kind if it is `auto`, or may be a boolean
/// of YAML 1.1 (`yes`, `off`).
OptionKind kind_of(const Json& value) {
  if (value.is_boolean()) return OptionKind::boolean;
  if (value.is_number_integer()) return OptionKind::integer;
  if (value.is_number()) return OptionKind::number;
  const std::string text = plain_text(value);
  return truth_of(text) || text == "auto" ? OptionKind::unknown : OptionKind::text;
}

/// Returns the settings of a Python file. Marks them as not replaceable, because the file's code
/// may use a name in any way.
NamedConfig python_config(const std::string& name, const std::string& text) {
  NamedConfig config{name, settings_of_source(text, name), {}};
  for (const ProgramOption& setting : config.settings)
    config.fixed[setting.name] = "it is a Python file";
  return config;
}

/// True if a `---` after the first value starts another document.
bool has_documents(ConfigFormat format, const std::vector<ConfigScalar>& scalars,
                   std::string_view text) {
  if (format != ConfigFormat::yaml || scalars.empty()) return false;
  for (std::size_t at = text.find("\n---", scalars.front().begin); at != std::string_view::npos;
       at = text.find("\n---", at + 1)) {
    if (at + 4 >= text.size() ||
        std::string_view(" \r\n").find(text[at + 4]) != std::string_view::npos)
      return true;
  }
  return false;
}

/// Marks settings that several files have as not replaceable, because it is unknown which file
/// counts. Ignores the value `auto`, which the trainer replaces by the other file's value.
void fix_repeated_settings(std::vector<NamedConfig>& configs) {
  std::map<std::string, NamedConfig*> first;  // the first file that has a setting
  for (NamedConfig& config : configs) {
    for (const ProgramOption& setting : config.settings) {
      if (setting.default_value == "auto") continue;
      NamedConfig* const other = first.emplace(setting.name, &config).first->second;
      if (other == &config) continue;
      config.fixed.emplace(setting.name, fmt::format("{} has it, too", other->name));
      other->fixed.emplace(setting.name, fmt::format("{} has it, too", config.name));
    }
  }
}

std::optional<ProgramFacts::Today> stated_in_files(const std::vector<NamedConfig>& configs,
                                                   const std::string& name) {
  for (const NamedConfig& config : configs) {
    const ProgramOption* setting = find_option(config.settings, plain_name(name));
    if (setting != nullptr) return ProgramFacts::Today{*setting->default_value, config.name};
  }
  return std::nullopt;
}

}  // namespace

std::optional<NamedConfig> read_config(const std::string& name,
                                       const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / name;
  const auto format = config_format_of(file);
  const bool is_python = file.extension() == ".py";
  std::error_code error;
  if (!(format || is_python) || !std::filesystem::is_regular_file(file, error)) return std::nullopt;
  const auto text = read_system_file(file, k_most_text_bytes + 1);
  if (!text || text->size() > k_most_text_bytes) return std::nullopt;
  if (is_python) return python_config(name, *text);
  const auto scalars = scan_config(*format, *text, name);
  if (!scalars) return std::nullopt;
  NamedConfig config{name, {}, {}};
  std::set<std::string> seen;
  const FileReferences references =
      file_references(*format, *scalars, *text, file.parent_path(), folder);
  const bool several = has_documents(*format, *scalars, *text);
  for (const ConfigScalar& scalar : *scalars) {
    const std::string key = scalar.key();
    if (several) config.fixed.emplace(key, "the file holds several documents");
    if (!scalar.why_fixed.empty()) config.fixed.emplace(key, scalar.why_fixed);
    if (!seen.insert(key).second) config.fixed.emplace(key, "it appears there twice");
    if (!references.fixed.empty()) {
      config.fixed.emplace(
          key, fmt::format("the file includes {}, which a copy elsewhere would not find",
                           references.fixed));
    }
    if (scalar.value.is_null()) continue;
    config.settings.push_back({.name = key,
                               .form = OptionForm::assignment,
                               .kind = kind_of(scalar.value),
                               .default_value = plain_text(scalar.value),
                               .default_from = name});
  }
  return config;
}

std::optional<ProgramFacts::Today> ProgramFacts::stated_in_command(const std::string& name) const {
  std::optional<Today> found;
  for (std::size_t at = 0; at < argv.size(); ++at) {
    const std::size_t equals = argv[at].find('=');
    const std::string typed = argv[at].substr(0, equals);
    const std::size_t prefix = std::min(typed.find_first_not_of('+'), typed.size());
    if (plain_name(typed.substr(prefix)) != plain_name(name)) continue;
    if (!typed.starts_with('-') && equals == std::string::npos) continue;
    const bool has_next = at + 1 < argv.size() && !is_option_word(argv[at + 1]);
    found = Today{equals != std::string::npos ? argv[at].substr(equals + 1)
                  : has_next                  ? argv[at + 1]
                                              : "true",
                  "the command"};
  }
  return found;
}

std::optional<ProgramFacts::Today> ProgramFacts::stated(const std::string& name) const {
  auto typed = stated_in_command(name);
  return typed ? typed : stated_in_files(configs, name);
}

std::optional<ProgramFacts::Today> ProgramFacts::today(const ProgramOption& option) const {
  if (const auto typed = value_on_command_line(argv, option)) return Today{*typed, "the command"};
  if (auto stated = stated_in_files(configs, option.name)) return stated;
  if (!option.default_value || option.default_value->empty()) return std::nullopt;
  return Today{*option.default_value, option.default_from};
}

const ProgramOption* ProgramFacts::option_called(const std::string& name) const {
  const auto exact = std::ranges::find(options, name, &ProgramOption::name);
  return exact != options.end() ? &*exact : find_option(options, plain_name(name));
}

std::string ProgramFacts::missing_for(const ProgramOption& option) const {
  for (const std::string& name : option.needs) {
    const auto needed = std::ranges::find_if(
        options, [&](const ProgramOption& other) { return other.is_called(name); });
    if (needed != options.end() && !value_on_command_line(argv, *needed)) return name;
  }
  return "";
}

std::vector<NamedConfig> configs_of(const std::vector<std::string>& argv,
                                    const std::filesystem::path& folder) {
  std::vector<NamedConfig> configs;
  const std::size_t first = program_words(argv).begin;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (i < first && argv[i].ends_with(".py")) continue;  // the program, or its launcher
    const std::size_t equals = argv[i].find('=');
    const std::string name = equals == std::string::npos ? argv[i] : argv[i].substr(equals + 1);
    if (std::ranges::find(configs, name, &NamedConfig::name) != configs.end()) continue;
    if (auto config = read_config(name, folder)) configs.push_back(*std::move(config));
  }
  fix_repeated_settings(configs);
  return configs;
}

std::vector<ProgramOption> merged_options(std::vector<ProgramOption> from_help,
                                          std::vector<ProgramOption> from_source) {
  if (from_help.empty()) return from_source;
  for (ProgramOption& option : from_help) {
    for (const ProgramOption& declared : from_source) {
      if (plain_name(declared.name) != plain_name(option.name)) continue;
      if (!option.default_value && declared.default_value) {
        option.default_value = declared.default_value;
        option.default_from = declared.default_from;
      }
      if (option.kind == OptionKind::unknown) option.kind = declared.kind;
      if (declared.form == OptionForm::any_text) option.form = declared.form;
      option.is_assigned = declared.is_assigned;
      if (option.choices.empty()) option.choices = declared.choices;
      break;
    }
  }
  return from_help;
}

}  // namespace steptune
