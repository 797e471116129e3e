// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/judged_commands.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "trial_runner/measure/quantiles.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/outcome.hpp"
#include "tuner/report/recommendation.hpp"
#include "tuner/study/judge_defaults.hpp"
#include "tuner/study/unit_name.hpp"
#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/counted_runs.hpp"

namespace steptune {
namespace {

constexpr const char* k_too_short = "the time was too short";
constexpr const char* k_too_short_for_campaign =
    "the time was too short for the campaign, which needs a smaller error";
const Objective k_speed{"time", Direction::minimize};

/// Returns the `CommandVerdict` with the same name; `undecided` if there is none with that name.
CommandVerdict verdict_of(Verdict verdict) {
  return k_command_verdict_names.value_of(k_verdict_names.name_of(verdict))
      .value_or(CommandVerdict::undecided);
}

/// Sets for each undecided command the further time that would decide it. `pairs` has the number of
/// further pairs for each of `others`. A round has one run of the first command and one of each
/// command that is still undecided.
void estimate_times(const std::vector<double>& pairs, double run_s,
                    std::vector<JudgedCommand>& others) {
  for (std::size_t i = 0; i < others.size(); ++i) {
    double runs = pairs[i];
    for (const double other : pairs)
      runs += std::min(pairs[i], other);
    if (runs > 0.0 && std::isfinite(runs) && run_s > 0.0) others[i].more_s = runs * run_s;
  }
}

/// Returns the mean seconds of a fresh run; 0 if there was none.
double seconds_of_run(std::span<const TrialRecord> trials) {
  double total_s = 0.0;
  int runs = 0;
  for (const TrialRecord& trial : trials) {
    if (!is_confirmation(trial.purpose) || !is_final(trial.status)) continue;
    total_s += latest_attempt_s(trial);
    ++runs;
  }
  return runs > 0 ? total_s / runs : 0.0;
}

/// Returns why the comparison of a command stopped. The command must have a verdict.
std::string why_stopped(const SpeedUp& speed_up, const StudySpec& study) {
  const double by = study.measure.confirm_slowdown;
  const double limit = 1.0 / (1.0 + by);
  if (by > 0.0 && speed_up.low < limit && speed_up.high > limit) {
    return fmt::format("the time was too short to know if it is {:g} % slower", 100.0 * by);
  }
  const double margin = 1.0 + study.search.worth;
  if (speed_up.low > 1.0 / margin && speed_up.high < margin) {
    return fmt::format("the interval lies within {:g} % of 1", 100.0 * study.search.worth);
  }
  if (speed_up.low > 1.0 || speed_up.high < 1.0) return "the interval excludes 1";
  return "the time was over";
}

/// Returns the longest time for which a run of the configuration was given up without a first step.
/// If each run made a first step in time, returns nullopt.
std::optional<double> slow_start_of(std::span<const TrialRecord> trials,
                                    const Configuration& configuration) {
  std::optional<double> longest_s;
  for (const TrialRecord& trial : trials) {
    if (trial.configuration == configuration && trial.awaited_start_s)
      longest_s = std::max(longest_s.value_or(0.0), *trial.awaited_start_s);
  }
  return longest_s;
}

/// If the first command is the reason that other commands are undecided, sets this reason for them.
/// `failure` says why fresh runs of the first command failed so often that the comparison ended;
/// may be empty.
void blame_first(const std::string& failure, JudgedCommands& judged) {
  const auto& slow_start_s = judged.first.slow_start_s;
  std::string why;
  if (judged.first.verdict == CommandVerdict::failed) {
    why = "the first command failed";
  } else if (slow_start_s) {
    why =
        fmt::format("the first command reported no step within {}", format_duration(*slow_start_s));
  } else if (!failure.empty()) {
    why = fmt::format("fresh runs of the first command failed: {}", failure);
  }
  if (why.empty()) return;
  for (JudgedCommand& command : judged.others) {
    if (command.verdict != CommandVerdict::undecided) continue;
    command.why = why;
    command.more_s.reset();
  }
}

/// Returns why a run of the configuration failed; empty if none did.
std::string failure_of(std::span<const TrialRecord> trials, const Configuration& configuration) {
  for (const TrialRecord& trial : trials) {
    const bool failed = trial.status == TrialStatus::failed ||
                        trial.status == TrialStatus::out_of_memory ||
                        trial.status == TrialStatus::infeasible;
    if (failed && !trial.awaited_start_s && trial.configuration == configuration) {
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

/// Returns `its loss after 960 samples is 2.61, 13.5 % above A's 2.3 (95 % interval 10.2 to 16.8 %,
/// 4 launches each)`.
std::string worse_loss_text(const JudgedCommand& command, const JudgedCommands& judged) {
  if (!command.loss || !judged.loss) return "it violates a guard";
  const LaunchMeans& loss = *command.loss;
  return fmt::format(
      "its {} after {} {} is {:.4g}, {:.1f} % above {}'s {:.4g} (95 % interval {:.1f} to {:.1f} %, "
      "{} launches each)",
      judged.loss->guard.metric, format_number(judged.loss->guard.after_samples), judged.loss->unit,
      loss.value, 100.0 * loss.difference, judged.first.name, loss.baseline,
      100.0 * (loss.difference - loss.half_width), 100.0 * (loss.difference + loss.half_width),
      loss.launches);
}

/// Returns the line of the loss; empty if nothing is known about it.
std::string loss_line(const JudgedCommands& judged) {
  if (!judged.loss) {
    return judged.why_no_loss.empty() ? ""
                                      : fmt::format("loss    not compared: {}", judged.why_no_loss);
  }
  const auto known = std::ranges::find_if(
      judged.others, [](const JudgedCommand& command) { return command.loss.has_value(); });
  const std::string point =
      fmt::format("{} {}", format_number(judged.loss->guard.after_samples), judged.loss->unit);
  if (known == judged.others.end()) {
    return fmt::format("loss    not compared: too few launches reported it after {}", point);
  }
  std::string text =
      fmt::format("loss    after {}: {} {:.4g}", point, judged.first.name, known->loss->baseline);
  for (const JudgedCommand& command : judged.others) {
    if (command.loss) {
      text += fmt::format(", {} {:.4g} ({:+.1f} +-{:.1f} %)", command.name, command.loss->value,
                          100.0 * command.loss->difference, 100.0 * command.loss->half_width);
    } else {
      text += fmt::format(", {} not compared", command.name);
    }
  }
  return text;
}

}  // namespace

std::string to_text(CommandVerdict verdict) {
  return std::string(k_command_verdict_names.name_of(verdict));
}

std::string judged_sentence(const JudgedCommand& command, const JudgedCommands& judged) {
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
  const std::string stopped = command.why.empty() ? "" : "; stopped: " + command.why;
  switch (*command.verdict) {
    case CommandVerdict::faster:
      return fmt::format("{} is faster: {}{}", command.name, times, stopped);
    case CommandVerdict::slower:
      return fmt::format("{} is slower: {}{}", command.name, times, stopped);
    case CommandVerdict::worse:
      return fmt::format("{} is worse: {}; {}{}", command.name, worse_loss_text(command, judged),
                         times, stopped);
    case CommandVerdict::tied:
      return fmt::format("{} is as fast as {}, within {:g} %{}{}", command.name, first,
                         100.0 * judged.margin, evidence, stopped);
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

std::vector<Configuration> judged_configurations(const StudySpec& study) {
  std::vector<Configuration> configurations{study.baseline};
  const auto& hints = study.search.hints;
  configurations.insert(configurations.end(), hints.begin(), hints.end());
  if (!hints.empty()) return configurations;
  const Parameter& parameter = study.space.parameters().front();
  for (std::uint64_t i = 1; i < parameter.level_count().value_or(0); ++i) {
    Configuration configuration;
    configuration.set(parameter.name, parameter.level(i));
    configurations.push_back(std::move(configuration));
  }
  return configurations;
}

std::vector<std::vector<std::string>> judged_words(const StudySpec& study) {
  std::vector<std::vector<std::string>> commands;
  for (const Configuration& configuration : judged_configurations(study))
    commands.push_back(render_command(study, configuration).argv);
  return commands;
}

std::vector<std::string> without_tree(std::vector<std::string> command) {
  // The three words in front are `env -C FOLDER`.
  if (command.size() > 3 && command[0] == "env" && command[1] == "-C")
    command.erase(command.begin(), command.begin() + 3);
  return command;
}

JudgedCommands judged_commands(const StudySpec& study, std::span<const TrialRecord> trials,
                               const std::optional<Recommendation>& recommendation,
                               double spent_s) {
  JudgedCommands judged;
  judged.margin = study.search.worth;
  judged.spent_s = spent_s;
  judged.longest_s = study.budget.time_s;
  judged.pair_freedom = study.measure.pair_freedom;
  const auto guard = std::ranges::find_if(study.guards, &Guard::over_launches);
  if (guard != study.guards.end()) judged.loss = JudgedLoss{*guard, unit_name(study).plural};
  std::vector<double> pairs;  // further pairs that would decide each of `others`
  std::string failure_of_first;
  std::size_t place = 0;
  for (const Configuration& configuration : judged_configurations(study)) {
    JudgedCommand command;
    command.name = judged_name(place++);
    command.command =
        printable_line(shell_quoted(render_command(study, configuration).argv), k_any_length);
    command.why = failure_of(trials, configuration);
    const bool has_failed = !command.why.empty();
    command.slow_start_s = slow_start_of(trials, configuration);
    if (configuration == study.baseline) {
      const bool is_measured = baseline_of(trials) != nullptr;
      command.verdict.reset();
      if (!is_measured && has_failed && !command.slow_start_s)
        command.verdict = CommandVerdict::failed;
      if (is_measured) {
        if (baseline_has_failed(trials)) failure_of_first = command.why;
        command.why.clear();
        command.slow_start_s.reset();
      }
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
      const bool is_decided =
          command.verdict != CommandVerdict::undecided && command.verdict != CommandVerdict::failed;
      if (is_decided) command.why = why_stopped(command.speed_up, study);
    }
    pairs.push_back(command.verdict == CommandVerdict::undecided ? k_infinity : 0.0);
    if (command.verdict == CommandVerdict::undecided && command.slow_start_s) {
      command.why = fmt::format("its start took more than {}, the whole remaining time",
                                format_duration(*command.slow_start_s));
    } else if (command.verdict == CommandVerdict::undecided && command.why.empty()) {
      const bool is_clear_alone = command.speed_up.low_if_buffered > 1.0;
      command.why = study.campaign && is_clear_alone ? k_too_short_for_campaign : k_too_short;
      const double more_pairs = command.speed_up.more_pairs;
      if (std::isfinite(more_pairs)) pairs.back() = more_pairs;
    }
    if (judged.loss) {
      command.loss = means_over_launches(judged.loss->guard, trials, configuration, study.baseline,
                                         error_of_each(study));
    }
    judged.others.push_back(std::move(command));
  }
  estimate_times(pairs, seconds_of_run(trials), judged.others);
  blame_first(failure_of_first, judged);
  return judged;
}

JudgedCommands judged_without_start(const std::vector<std::vector<std::string>>& commands,
                                    double margin, double spent_s, double longest_s) {
  JudgedCommands judged;
  judged.margin = margin;
  judged.spent_s = spent_s;
  judged.longest_s = longest_s;
  const auto undecided = [&](std::size_t place) {
    JudgedCommand command;
    command.name = judged_name(place);
    command.command = printable_line(shell_quoted(commands[place]), k_any_length);
    return command;
  };
  judged.first = undecided(0);
  judged.first.verdict.reset();
  judged.first.slow_start_s = spent_s;
  for (std::size_t place = 1; place < commands.size(); ++place)
    judged.others.push_back(undecided(place));
  blame_first("", judged);
  return judged;
}

CommandVerdict verdict_of_all(const JudgedCommands& judged) {
  static constexpr std::array k_order{CommandVerdict::faster, CommandVerdict::undecided,
                                      CommandVerdict::tied, CommandVerdict::worse,
                                      CommandVerdict::slower};
  if (judged.first.verdict == CommandVerdict::failed) return CommandVerdict::failed;
  for (const CommandVerdict verdict : k_order) {
    if (std::ranges::find(judged.others, verdict, &JudgedCommand::verdict) != judged.others.end()) {
      return verdict;
    }
  }
  return CommandVerdict::failed;
}

const JudgedCommand& best_of(const JudgedCommands& judged) {
  const JudgedCommand* best = &judged.first;
  for (const JudgedCommand& command : judged.others) {
    if (command.verdict != CommandVerdict::faster) continue;
    if (best == &judged.first || command.speed_up.ratio > best->speed_up.ratio) best = &command;
  }
  return *best;
}

std::string judged_text(const JudgedCommands& judged) {
  if (judged.first.verdict == CommandVerdict::failed) {
    return fmt::format("{} failed, so nothing was compared: {}\n", judged.first.name,
                       printable_line(judged.first.why, k_any_length));
  }
  std::string text;
  for (const JudgedCommand& command : judged.others)
    text += printable_line(judged_sentence(command, judged), k_any_length) + "\n";
  const std::string loss = loss_line(judged);
  if (!loss.empty()) text += printable_line(loss, k_any_length) + "\n";
  text += fmt::format("cost    {}", format_duration(judged.spent_s));
  if (judged.longest_s) text += fmt::format(" of {}", format_duration(*judged.longest_s));
  const JudgedCommand& best = best_of(judged);
  text += fmt::format("\nkeep    {}: {}\n", best.name, best.command);
  return text;
}

}  // namespace steptune
