// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/decisions_report.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/log_text.hpp"
#include "tuner/report/machine_hours.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/report/trial_text.hpp"

namespace steptune {
namespace {

struct ShowOptions {
  std::vector<std::string> arguments;
  bool log = false;
  bool decisions = false;
};

/// Returns the file with the trial's output. Looks beside the database first, because the database
/// may have been moved together with its logs. Then looks at the recorded path. Empty if there is
/// no file: a replayed trial prints nothing, and logs may have been removed.
std::filesystem::path log_of(const CommandContext& context, const std::string& study,
                             const TrialRecord& trial) {
  std::error_code fault;
  if (is_file_name(study)) {
    auto path = log_directory(context.database(), study) / trial.log_path.filename();
    if (std::filesystem::is_regular_file(path, fault)) return path;
  }
  return std::filesystem::exists(trial.log_path, fault) ? trial.log_path : std::filesystem::path();
}

ExitCode show_log(CommandContext& context, const TrialRecord& trial) {
  const auto text = read_log(trial.log_path, context.console.stdout_width() > 0);
  if (!text) return context.console.error(text.error());
  context.console.result(*text);
  return ExitCode::ok;
}

/// Returns the last lines of a trial's output; empty if it was not kept.
std::vector<std::string> log_tail(const TrialRecord& trial) {
  constexpr std::ptrdiff_t k_lines = 5;
  std::vector<std::string> lines;
  const auto text = read_log(trial.log_path, true);
  if (!text) return lines;
  for (const std::string_view line : split_lines(*text)) {
    if (!line.empty()) lines.push_back(printable_line(line));
  }
  if (std::ssize(lines) > k_lines) lines.erase(lines.begin(), lines.end() - k_lines);
  return lines;
}

Result<TrialDetails> details_of(const StoredStudy& study, const TrialRecord& trial,
                                const std::filesystem::path& database) {
  TrialDetails details;
  auto trace = study.history.trace(study.record.id, trial.number);
  if (!trace) return tl::unexpected(trace.error());
  details.trace = *std::move(trace);
  auto attempts = study.history.attempts(study.record.id, trial.number);
  if (!attempts) return tl::unexpected(attempts.error());
  details.attempts = *std::move(attempts);
  details.log_tail = log_tail(trial);
  if (const auto spec = stored_spec(study.record)) {
    TrialCommand command = trial_command(study.record, *spec, trial, database);
    if (!command.argv.empty()) details.command = std::move(command);
    details.machine_hours = machine_hours_of(*spec, trial);
  }
  return details;
}

/// Argument of `--decisions`: a study, or one of its trials.
struct DecisionsOf {
  StoredStudy study;
  std::optional<std::int64_t> trial;
};

Result<DecisionsOf> decisions_of(CommandContext& context, std::vector<std::string> words) {
  std::optional<std::int64_t> trial;
  if (words.size() > 1) {
    const auto number = trial_number(words.back());
    if (!number) return tl::unexpected(number.error());
    trial = *number;
    words.pop_back();
  }
  auto study = open_stored_study(context, words.empty() ? "" : words.front());
  const bool is_missing = !study && study.error().kind == ErrorKind::not_found;
  // A study's name may be a number, too.
  const auto number = words.empty() ? Result<std::int64_t>(0) : trial_number(words.front());
  if (is_missing && !trial && number) {
    trial = *number;
    study = open_stored_study(context, "");
  }
  if (!study) return tl::unexpected(study.error());
  if (trial) {
    if (const auto found = study->history.trial(study->record.id, *trial); !found) {
      return tl::unexpected(found.error());
    }
  }
  return DecisionsOf{*std::move(study), trial};
}

ExitCode show_decisions(CommandContext& context, const ShowOptions& options) {
  const auto asked = decisions_of(context, options.arguments);
  if (!asked) return context.console.error(asked.error());
  const StoredStudy* study = &asked->study;
  auto decisions = study->history.decisions(study->record.id);
  if (!decisions) return context.console.error(decisions.error());
  if (asked->trial) {
    std::erase_if(*decisions,
                  [&](const StudyDecision& decision) { return decision.trial != *asked->trial; });
  }
  return print_part(
      context, study->record, "decisions", [&] { return decisions_json(*decisions); },
      [&] { return decisions_text(*decisions, context.console.stdout_width()); });
}

ExitCode show_trial(CommandContext& context, const ShowOptions& options) {
  if (options.arguments.empty()) {
    return context.console.error({ErrorKind::usage, "no trial is given", "",
                                  "'steptune leaderboard --all' lists the trials"});
  }
  const auto number = trial_number(options.arguments.back());
  if (!number) return context.console.error(number.error());
  const auto study =
      open_stored_study(context, options.arguments.size() > 1 ? options.arguments.front() : "");
  if (!study) return context.console.error(study.error());
  auto trial = study->history.trial(study->record.id, *number);
  if (!trial) return context.console.error(trial.error());
  trial->log_path = log_of(context, study->record.name, *trial);
  if (options.log) return show_log(context, *trial);
  // If the study was interrupted, the trial's end may be missing from the history. Warn that the
  // shown state may be old.
  if (!is_final(trial->status) && study->record.status == StudyStatus::interrupted) {
    warn_if_unfinished(context, study->record);
  }
  const auto details = details_of(*study, *trial, context.database());
  if (!details) return context.console.error(details.error());
  if (context.json) {
    context.console.json_result(document_json({{"study", json_of(study->record)},
                                               {"trial", trial_json(*trial, study->objectives)},
                                               {"details", details_json(*details)}}));
    return ExitCode::ok;
  }
  const auto standing = read_standing(*study);
  if (!standing) return context.console.error(standing.error());
  context.console.result(trial_text(*trial, standing->baseline(), study->objectives,
                                    parameter_order(study->record.document), *details,
                                    context.console.stdout_width()));
  return ExitCode::ok;
}

}  // namespace

void add_show_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<ShowOptions>(
      program, context, "show", "Show everything about one trial",
      "  steptune show 7\n"
      "  steptune show resnet-nightly 7 --log\n"
      "  steptune show resnet-nightly --decisions\n"
      "  steptune show 7 --decisions",
      [](CommandContext& within, const ShowOptions& given) {
        return given.decisions ? show_decisions(within, given) : show_trial(within, given);
      });
  command
      ->add_option("TRIAL", options->arguments,
                   "Study, by name or file [default: the latest], and number of the trial")
      ->option_text("[STUDY] TRIAL")
      ->expected(1, 2);
  CLI::Option* log = command->add_flag("--log", options->log,
                                       "Print the trial's output instead, as far as it was kept");
  command
      ->add_flag("--decisions", options->decisions,
                 "Show the decisions about the study, or about TRIAL, with the numbers behind them")
      ->excludes(log);
  add_json_option(*command, context);
  log->excludes(command->get_option("--json"));
}

}  // namespace steptune
