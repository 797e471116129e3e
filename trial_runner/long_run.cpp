// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/long_run.hpp"

#include <fmt/format.h>

#include "common/text.hpp"
#include "common/utf8.hpp"

namespace steptune {
namespace {

Result<void> check_text(const std::string& text, const std::string& what) {
  if (is_utf8(text)) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} is not UTF-8 and cannot be written as JSON: {}", what,
                          printable_line(text, 80)),
              "", "see --format args and --format env");
}

}  // namespace

Result<void> check_utf8(const LongRun& run) {
  for (const std::string& word : run.argv) {
    if (auto checked = check_text(word, "a word of the command"); !checked) return checked;
  }
  for (const auto& [name, value] : run.environment) {
    if (auto checked = check_text(value, "the variable " + name); !checked) return checked;
  }
  for (const auto& [name, value] : run.configuration.values()) {
    if (auto checked = check_text(to_text(value), "the parameter " + name); !checked)
      return checked;
  }
  return {};
}

}  // namespace steptune
