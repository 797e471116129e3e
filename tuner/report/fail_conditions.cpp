// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/fail_conditions.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "tuner/study/limits.hpp"

namespace steptune {
namespace {

/// True if the command is slower than the first one by more than the share `by`. Returns nullopt if
/// the command's interval allows both answers. `margin` is `JudgedCommands::margin`.
std::optional<bool> is_slower_by(const JudgedCommand& command, double by, double margin) {
  const SpeedUp& speed_up = command.speed_up;
  const double limit = 1.0 / (1.0 + by);
  if (by > 0.0 && speed_up.low > limit) return false;
  if (command.verdict == CommandVerdict::slower && speed_up.high < limit) return true;
  // A tie is not slower, even if its interval does not contain 1. Its verdict may be `worse`.
  const bool is_within = speed_up.low > 1.0 / (1.0 + margin) && speed_up.high < 1.0 + margin;
  const bool is_excluded =
      speed_up.low > limit || is_within || command.verdict == CommandVerdict::tied;
  return is_excluded && by == 0.0 ? std::optional(false) : std::nullopt;
}

std::optional<bool> holds_for_command(const FailCondition& condition, const JudgedCommand& command,
                                      double margin) {
  if (condition.verdict == CommandVerdict::slower) {
    return is_slower_by(command, condition.by, margin);
  }
  if (condition.verdict == CommandVerdict::worse) {
    return command.loss ? std::optional(command.loss->is_violated) : std::nullopt;
  }
  return command.verdict == condition.verdict;
}

FailResult check_condition(const FailCondition& condition, const JudgedCommands& judged) {
  FailResult result{condition, false, {}};
  for (const JudgedCommand& command : judged.others) {
    const auto holds = holds_for_command(condition, command, judged.margin);
    if (holds && *holds) result.commands.push_back(command.name);
    if (!holds && result.holds) result.holds.reset();
  }
  if (!result.commands.empty()) result.holds = true;
  return result;
}

}  // namespace

Result<FailCondition> parse_fail_condition(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  FailCondition condition{.text = text};
  if (name == "slower" && colon != std::string::npos) {
    const auto by = parse_share(std::string_view(text).substr(colon + 1));
    if (by && *by > 0.0 && *by <= k_most_slowdown) {
      condition.by = *by;
      return condition;
    }
  } else if (text == "slower") {
    return condition;
  } else if (text == "worse" || text == "undecided") {
    condition.verdict = text == "worse" ? CommandVerdict::worse : CommandVerdict::undecided;
    return condition;
  }
  return fail(ErrorKind::usage, fmt::format("{} is not a condition", printable_line(text, 40)),
              "--fail-if", "give slower, slower:3%, worse or undecided");
}

std::vector<FailResult> check_conditions(const std::vector<FailCondition>& conditions,
                                         const JudgedCommands& judged) {
  std::vector<FailResult> results;
  for (const FailCondition& condition : conditions)
    results.push_back(check_condition(condition, judged));
  const auto is_slower = [](const FailResult& result) {
    return result.condition.verdict == CommandVerdict::slower;
  };
  if (std::ranges::none_of(results, is_slower)) return results;
  const bool is_open = std::ranges::any_of(
      results, [&](const FailResult& result) { return is_slower(result) && !result.holds; });
  for (FailResult& result : results) {
    if (result.condition.verdict != CommandVerdict::undecided) continue;
    result.holds = is_open;
    result.commands.clear();
  }
  return results;
}

std::string fail_text(const std::vector<FailResult>& results) {
  std::string text;
  for (const FailResult& result : results) {
    const char* answer = !result.holds ? "not known" : *result.holds ? "yes" : "no";
    text += fmt::format(
        "fail-if {}: {}{}\n", result.condition.text, answer,
        result.commands.empty() ? "" : fmt::format(" ({})", fmt::join(result.commands, ", ")));
  }
  return text;
}

}  // namespace steptune
