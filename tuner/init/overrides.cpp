// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/overrides.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <re2/re2.h>

#include "common/text.hpp"
#include "tuner/config_edit/truth_word.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/knob_declaration.hpp"

namespace steptune {
namespace {

/// A setting that the command overrides.
struct Override {
  std::string typed;  ///< `+a.b`, `--a.b`, `SOLVER.IMS_PER_BATCH`
  std::string path;   ///< path without the typed prefix
  OptionForm form = OptionForm::assignment;
  std::string value;
};

bool is_in_files(const ProgramFacts& program, const std::string& path) {
  const std::string plain = plain_name(path);
  return std::ranges::any_of(program.configs, [&](const NamedConfig& config) {
    return std::ranges::any_of(config.settings, [&](const ProgramOption& setting) {
      return plain_name(setting.name) == plain;
    });
  });
}

std::optional<Override> override_at(const ProgramFacts& program, std::size_t at) {
  static const RE2 k_assignment(R"((\+{0,2}([A-Za-z_][\w\-]*(?:\.[\w\-]+)*))=(.*))");
  static const RE2 k_option(R"((--([A-Za-z_][\w\-]*(?:\.[\w\-]+)*))(=.*)?)");
  const std::string& word = program.argv[at];
  const bool has_next = at + 1 < program_words(program.argv).end;
  const std::string next = has_next ? program.argv[at + 1] : "";
  Override found;
  if (RE2::FullMatch(word, k_assignment, &found.typed, &found.path, &found.value)) return found;
  if (is_setting_pair(program.argv, at) || (has_next && is_in_files(program, word))) {
    if (!word.starts_with('-')) return Override{word, word, OptionForm::separate, next};
  }
  std::string joined;
  if (!RE2::FullMatch(word, k_option, &found.typed, &found.path, &joined)) return std::nullopt;
  if (!is_in_files(program, found.path)) return std::nullopt;
  found.form = joined.empty() ? OptionForm::separate : OptionForm::joined;
  found.value = joined.empty() ? next : joined.substr(1);
  return is_option_word(found.value) ? std::nullopt : std::optional(found);
}

OptionKind kind_of_value(const std::string& value) {
  if (whole_number(value)) return OptionKind::integer;
  if (parse_finite(value)) return OptionKind::number;
  return truth_of(value) ? OptionKind::boolean : OptionKind::text;
}

}  // namespace

std::vector<ProgramOption> with_overrides(std::vector<ProgramOption> options,
                                          const ProgramFacts& program) {
  const ProgramWords words = program_words(program.argv);
  for (std::size_t at = words.begin; at < words.end; ++at) {
    const auto found = override_at(program, at);
    if (!found) continue;
    const auto same = std::ranges::find_if(options, [&](const ProgramOption& option) {
      return option.is_called(found->typed) || option.is_called(found->path);
    });
    if (same != options.end()) {
      // An ordinary option needs no mark: it is removed from the command and added again with the
      // trial's value.
      if (found->form != OptionForm::assignment) continue;
      if (!same->is_called(found->typed)) same->aliases.push_back(found->typed);
      same->stands_in_command = true;
      continue;
    }
    const bool is_assignment = found->form == OptionForm::assignment;
    options.push_back({.name = is_assignment ? found->path : found->typed,
                       .form = found->form,
                       .kind = kind_of_value(found->value),
                       .stands_in_command = true});
    if (options.back().name != found->typed) options.back().aliases.push_back(found->typed);
  }
  return options;
}

}  // namespace steptune
