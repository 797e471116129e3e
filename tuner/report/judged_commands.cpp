// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/judged_commands.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "common/enum_names.hpp"
#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "trial_runner/measure/quantiles.hpp"
#include "tuner/report/outcome.hpp"
#include "tuner/report/recommendation.hpp"

namespace steptune {
namespace {

constexpr auto k_command_verdicts = enum_names<CommandVerdict>({
    {CommandVerdict::faster, "faster"},
    {CommandVerdict::slower, "slower"},
    {CommandVerdict::tied, "tied"},
    {CommandVerdict::undecided, "undecided"},
    {CommandVerdict::failed, "failed"},
});

constexpr std::size_t k_longest_command = 2000;
constexpr const char* k_too_short = "the time was too short";
constexpr const char* k_too_short_for_campaign =
    "the time was too short for the campaign, which needs a smaller error";
const Objective k_speed{"time", Direction::minimize};

CommandVerdict verdict_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return CommandVerdict::faster;
    case Verdict::slower:
      return CommandVerdict::slower;
    case Verdict::tied:
      return CommandVerdict::tied;
    case Verdict::failed:
      return CommandVerdict::failed;
    case Verdict::open:
    case Verdict::hidden:
    case Verdict::not_faster:
      break;
  }
  return CommandVerdict::undecided;
}

/// Returns how much wider the interval is that decides that a command is faster.
double widening_of_faster(const StudySpec& study) {
  constexpr double k_many = 1e6;
  const double error = study.measure.confirm_error;
  return student_quantile(k_many, error) / student_quantile(k_many, k_one_sided_error);
}

/// Returns the seconds of further pairs after which the interval would exclude 1, or lie within the
/// margin. Its width shrinks with the square root of the number of pairs. Returns nullopt if there
/// is no interval, or if a difference near the margin would need too many pairs.
std::optional<double> time_to_decide_s(const SpeedUp& speed_up, const StudySpec& study,
                                       double pair_s) {
  constexpr double k_most_times_as_many = 30.0;
  const double half_width = 0.5 * (std::log(speed_up.high) - std::log(speed_up.low));
  if (!std::isfinite(half_width) || !(pair_s > 0.0)) return std::nullopt;
  const double difference = std::abs(std::log(speed_up.ratio));
  const double margin = std::log1p(study.search.worth);
  const double to_one = speed_up.ratio > 1.0 ? difference / widening_of_faster(study) : difference;
  const double distance = std::max(to_one, margin - difference);
  const double times_as_many = std::pow(half_width / distance, 2);
  if (!(times_as_many <= k_most_times_as_many)) return std::nullopt;
  return std::max(1.0, std::ceil(speed_up.pairs * (times_as_many - 1.0))) * pair_s;
}

/// Returns the mean seconds of a fresh run of the command and one of the first command.
double seconds_of_pair(std::span<const TrialRecord> trials) {
  double total_s = 0.0;
  int runs = 0;
  for (const TrialRecord& trial : trials) {
    if (!is_confirmation(trial.purpose) || !is_final(trial.status)) continue;
    total_s += latest_attempt_s(trial);
    ++runs;
  }
  return runs > 0 ? 2.0 * total_s / runs : 0.0;
}

/// Returns why a run of the configuration failed; empty if none did.
std::string failure_of(std::span<const TrialRecord> trials, const Configuration& configuration) {
  for (const TrialRecord& trial : trials) {
    const bool failed = trial.status == TrialStatus::failed ||
                        trial.status == TrialStatus::out_of_memory ||
                        trial.status == TrialStatus::infeasible;
    if (failed && trial.configuration == configuration) {
      return trial.failure.empty() ? to_text(trial.status) : trial.failure;
    }
  }
  return {};
}

/// Finds the finalist with this configuration; null if it had no fresh run.
const FinalistResult* finalist_of(const std::optional<Recommendation>& recommendation,
                                  std::span<const TrialRecord> trials,
                                  const Configuration& configuration) {
  if (!recommendation) return nullptr;
  for (const FinalistResult& finalist : recommendation->finalists) {
    const auto trial = std::ranges::find(trials, finalist.trial, &TrialRecord::number);
    if (trial != trials.end() && trial->configuration == configuration) return &finalist;
  }
  return nullptr;
}

/// Returns `B is 1.87 times as fast as A (95 % interval 1.50-2.33, 2 launches each)`.
std::string sentence(const JudgedCommand& command, const JudgedCommands& judged) {
  const SpeedUp& speed_up = command.speed_up;
  const std::string& first = judged.first.name;
  std::string evidence = interval_text(speed_up, k_speed);
  if (speed_up.pairs > 0) {
    evidence += fmt::format("{}{} launch{} each", evidence.empty() ? "" : ", ", speed_up.pairs,
                            speed_up.pairs == 1 ? "" : "es");
  }
  if (!evidence.empty()) evidence = fmt::format(" ({})", evidence);
  const std::string times =
      fmt::format("{} as {}{}", comparison_text(speed_up.ratio, k_speed), first, evidence);
  switch (command.verdict) {
    case CommandVerdict::faster:
      return fmt::format("{} is faster: {}", command.name, times);
    case CommandVerdict::slower:
      return fmt::format("{} is slower: {}", command.name, times);
    case CommandVerdict::tied:
      return fmt::format("{} is as fast as {}, within {:g} %{}", command.name, first,
                         100.0 * judged.margin, evidence);
    case CommandVerdict::failed:
      return fmt::format("{} failed: {}", command.name, command.why);
    case CommandVerdict::undecided:
      break;
  }
  std::string text = fmt::format("undecided: {} was not compared; {}", command.name, command.why);
  if (std::isfinite(speed_up.ratio)) {
    text = fmt::format("undecided: {} looks {}; {}", command.name, times, command.why);
  }
  if (command.more_s)
    text += fmt::format("; about {} more would decide", format_duration(*command.more_s));
  return text;
}

/// Returns the fastest command; the first one unless another was shown to be faster.
const JudgedCommand& best_of(const JudgedCommands& judged) {
  const JudgedCommand* best = &judged.first;
  for (const JudgedCommand& command : judged.others) {
    if (command.verdict != CommandVerdict::faster) continue;
    if (best == &judged.first || command.speed_up.ratio > best->speed_up.ratio) best = &command;
  }
  return *best;
}

Json command_json(const JudgedCommand& command) {
  return {{"name", command.name},
          {"command", command.command},
          {"verdict", to_text(command.verdict)},
          {"speed_up", speed_up_json(command.speed_up)},
          {"why", command.why.empty() ? Json(nullptr) : Json(command.why)},
          {"more_s", command.more_s ? Json(*command.more_s) : Json(nullptr)}};
}

}  // namespace

std::string to_text(CommandVerdict verdict) {
  return std::string(k_command_verdicts.name_of(verdict));
}

JudgedCommands judged_commands(const StudySpec& study, std::span<const TrialRecord> trials,
                               const std::optional<Recommendation>& recommendation,
                               double spent_s) {
  JudgedCommands judged;
  judged.margin = study.search.worth;
  judged.spent_s = spent_s;
  judged.longest_s = study.budget.time_s.value_or(0.0);
  const double pair_s = seconds_of_pair(trials);
  const Parameter& parameter = study.space.parameters().front();
  for (std::uint64_t i = 0; i < parameter.level_count().value_or(0); ++i) {
    Configuration configuration;
    configuration.set(parameter.name, parameter.level(i));
    JudgedCommand command;
    command.name = to_text(parameter.level(i));
    command.command =
        printable_line(shell_quoted(render_command(study, configuration).argv), k_longest_command);
    command.why = failure_of(trials, configuration);
    const bool has_failed = !command.why.empty();
    if (configuration == study.baseline) {
      const bool is_measured = baseline_of(trials) != nullptr;
      if (!is_measured) command.verdict = CommandVerdict::failed;
      if (is_measured) command.why.clear();
      judged.first = std::move(command);
      continue;
    }
    if (has_failed) command.verdict = CommandVerdict::failed;
    const FinalistResult* finalist = finalist_of(recommendation, trials, configuration);
    if (finalist != nullptr && !has_failed) {
      command.verdict = verdict_of(finalist->verdict);
      command.speed_up = finalist->speed_up;
      if (finalist->verdict == Verdict::hidden)
        command.why = "a full buffer may hide the difference";
    }
    if (command.verdict == CommandVerdict::undecided && command.why.empty()) {
      const bool is_clear_alone = command.speed_up.low_if_buffered > 1.0;
      command.why = study.campaign && is_clear_alone ? k_too_short_for_campaign : k_too_short;
      command.more_s = time_to_decide_s(command.speed_up, study, pair_s);
    }
    judged.others.push_back(std::move(command));
  }
  return judged;
}

CommandVerdict verdict_of_all(const JudgedCommands& judged) {
  static constexpr std::array k_order{CommandVerdict::faster, CommandVerdict::undecided,
                                      CommandVerdict::tied, CommandVerdict::slower};
  if (judged.first.verdict == CommandVerdict::failed) return CommandVerdict::failed;
  for (const CommandVerdict verdict : k_order) {
    if (std::ranges::find(judged.others, verdict, &JudgedCommand::verdict) != judged.others.end()) {
      return verdict;
    }
  }
  return CommandVerdict::failed;
}

std::string judged_text(const JudgedCommands& judged) {
  if (judged.first.verdict == CommandVerdict::failed) {
    return fmt::format("{} failed, so nothing was compared: {}\n", judged.first.name,
                       printable_line(judged.first.why, k_longest_command));
  }
  std::string text;
  for (const JudgedCommand& command : judged.others)
    text += printable_line(sentence(command, judged), k_longest_command) + "\n";
  text += fmt::format("cost    {}", format_duration(judged.spent_s));
  if (judged.longest_s > 0.0) text += fmt::format(" of {}", format_duration(judged.longest_s));
  const JudgedCommand& best = best_of(judged);
  text += fmt::format("\nkeep    {}: {}\n", best.name, best.command);
  return text;
}

Json judged_json(const JudgedCommands& judged) {
  Json json;
  json["verdict"] = to_text(verdict_of_all(judged));
  json["keep"] =
      judged.first.verdict == CommandVerdict::failed ? Json(nullptr) : Json(best_of(judged).name);
  json["margin"] = judged.margin;
  json["spent_s"] = number_or_null(judged.spent_s);
  json["time_s"] = judged.longest_s > 0.0 ? Json(judged.longest_s) : Json(nullptr);
  json["commands"] = Json::array({command_json(judged.first)});
  json["commands"][0]["verdict"] =
      judged.first.verdict == CommandVerdict::failed ? Json("failed") : Json(nullptr);
  for (const JudgedCommand& command : judged.others)
    json["commands"].push_back(command_json(command));
  return json;
}

}  // namespace steptune
