// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <re2/re2.h>

#include "tuner/init/help_text.hpp"

namespace steptune {
namespace {

/// Joins the usage lines up to a blank line; empty if there are none.
std::string usage_of(const std::vector<std::string>& lines) {
  static const RE2 k_usage(R"((?i)^\s*usage\b.*)");
  std::string usage;
  for (const std::string& line : lines) {
    const bool begins = RE2::FullMatch(line, k_usage);
    if (usage.empty() && !begins) continue;
    if (line.find_first_not_of(' ') == std::string::npos) break;
    usage += line + " ";
  }
  return usage;
}

/// Returns the texts in outermost brackets, up to inner brackets.
std::vector<std::string> groups_of(const std::string& usage) {
  std::vector<std::string> groups;
  int depth = 0;
  bool whole = true;
  for (const char letter : usage) {
    if (letter == '[' && ++depth == 1) {
      groups.emplace_back();
      whole = true;
      continue;
    }
    if (letter == ']') --depth;
    if (depth < 0) depth = 0;
    whole = whole && depth == 1;
    if (whole && !groups.empty()) groups.back() += letter;
  }
  return groups;
}

}  // namespace

std::vector<ProgramOption> options_in_usage(const std::vector<std::string>& lines) {
  static const RE2 k_default(
      R"re((?i)^(.*?)\s*[({](?:default(?:s to| is)?\s*[:=]?\s*)?([^(){}]*)[)}]\s*$)re");
  static const RE2 k_next_name(R"(\s*\|\s*-)");
  std::vector<ProgramOption> options;
  for (std::string group : groups_of(usage_of(lines))) {
    const std::size_t first = group.find_first_not_of(' ');
    if (first == std::string::npos || group[first] != '-') continue;
    group.erase(0, first);
    std::string heading = group;
    std::string value;
    // Braces with a comma contain choices.
    const bool has_default =
        RE2::FullMatch(group, k_default, &heading, &value) && value.find(',') == std::string::npos;
    if (!has_default) heading = group;
    RE2::GlobalReplace(&heading, k_next_name, ", -");
    ProgramOption option = parse_heading(heading);
    const std::string plain = plain_name(option.name);
    if (plain.empty() || plain == "h" || plain == "help") continue;
    if (has_default && !value.empty() && option.form != OptionForm::flag) {
      option.default_value = value;
      option.default_from = "--help";
    }
    if (option.default_value) option.words = group;
    options.push_back(std::move(option));
  }
  return options;
}

}  // namespace steptune
