// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/program_option.hpp"

#include <algorithm>
#include <set>

#include <re2/re2.h>

#include "common/text.hpp"

namespace steptune {

bool ProgramOption::is_called(const std::string& typed) const {
  return typed == name || std::ranges::find(aliases, typed) != aliases.end();
}

std::string plain_name(const std::string& option) {
  std::string plain =
      lower_case(option.substr(std::min(option.find_first_not_of('-'), option.size())));
  std::ranges::replace(plain, '-', '_');
  return plain;
}

const ProgramOption* find_option(const std::vector<ProgramOption>& options,
                                 const std::string& plain) {
  const ProgramOption* within = nullptr;
  bool ambiguous = false;
  for (const ProgramOption& option : options) {
    const std::string name = plain_name(option.name);
    if (name == plain) return &option;
    if (!name.ends_with("." + plain) || is_of_evaluation(name)) continue;
    ambiguous = ambiguous || (within != nullptr && within->default_value != option.default_value);
    if (within == nullptr) within = &option;
  }
  return ambiguous ? nullptr : within;
}

bool is_of_evaluation(const std::string& plain) {
  static const RE2 k_evaluation(
      "(?:^|[_.])(?:eval|evaluation|test|val|valid|validation|predict)(?:$|[_.])");
  return RE2::PartialMatch(plain, k_evaluation);
}

bool is_left_to_program(const std::string& text) {
  static const std::set<std::string> k_words{"", "auto", "default", "none", "null", "0", "-1"};
  return k_words.contains(lower_case(text));
}

}  // namespace steptune
