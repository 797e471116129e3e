// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "tuner/report/judged_commands.hpp"

namespace steptune {

/// A condition under which a pipeline fails: a value of `judge --fail-if`.
struct FailCondition {
  CommandVerdict verdict = CommandVerdict::slower;  ///< `slower`, `worse` or `undecided`
  double by = 0.0;                                  ///< with `slower`: by more than this share
  std::string text;                                 ///< as given
};

/// Parses `slower`, `slower:3%`, `worse` or `undecided`. Returns `usage` for any other text.
[[nodiscard]] Result<FailCondition> parse_fail_condition(const std::string& text);

/// Result of a condition for all commands together.
struct FailResult {
  FailCondition condition;
  /// True if the condition is true for at least one command. False if it is false for all commands.
  /// nullopt: not known.
  std::optional<bool> holds;
  std::vector<std::string> commands;  ///< names of the commands for which it holds
};
template <>
const JsonRecord<FailResult>& json_record<FailResult>();

/// Checks the conditions by the intervals of the verdicts. The condition `undecided` is true if the
/// answer to a condition `slower` is not known. If there is no condition `slower`, it is true if a
/// command is undecided.
[[nodiscard]] std::vector<FailResult> check_conditions(const std::vector<FailCondition>& conditions,
                                                       const JudgedCommands& judged);

/// Returns a line for each condition, with a newline.
[[nodiscard]] std::string fail_text(const std::vector<FailResult>& results);

}  // namespace steptune
