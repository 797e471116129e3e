// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "tuner/cli/collection.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/run_report.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/cli/study_tuning.hpp"
#include "tuner/history/open_if_present.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

constexpr int k_projection_repeats = 3;

/// Returns the command that continues this study. `name_in_file` is the study's name in its file.
/// The command repeats `--trials`, `--worth`, `--first-guesses` and `--db` as the user gave them.
/// `time` is the value of its `--time`; if empty, the command has no `--time`. If `--new` has given
/// the study another name, the text first tells the user to put that name into the file.
std::string continuation(const CommandContext& context, const RunOptions& options,
                         const StudySpec& study, const std::string& name_in_file,
                         const std::string& time) {
  std::string command = "steptune run " + shell_quoted(options.study);
  if (options.trials) command += fmt::format(" --trials {}", *options.trials);
  if (!time.empty()) command += " --time " + shell_quoted(time);
  if (!options.worth.empty()) command += " --worth " + shell_quoted(options.worth);
  if (options.first_guesses) command += " --first-guesses";
  command += context.database_option();
  if (study.name == name_in_file) return command;
  return fmt::format("\"name\": \"{}\" in {}, then {}", study.name, options.study, command);
}

ExitCode exit_code_of(const LoopResult& result, const SignalFlags& flags) {
  if (flags.count() > 0) return flags.exit_code();
  if (result.end == LoopEnd::interrupted) return ExitCode::interrupted;
  if (!result.recommendation) return ExitCode::no_feasible;
  return result.end == LoopEnd::too_many_failures ? ExitCode::failure : ExitCode::ok;
}

/// Prints the error that prevented or ended the run, notifies if wanted, and returns the exit code.
ExitCode failed_run(CommandContext& context, const RunOptions& options, const Notifier& notifier,
                    const std::string& study, const Refusal& refusal) {
  const Error& error = refusal.error;
  // A conflict needs no notification: another steptune uses the history, or the study's file no
  // longer fits its trials. Nor does a user who declined a question on the terminal.
  if (error.kind != ErrorKind::conflict && !refusal.by_user) {
    notify_if_wanted(
        context, notifier, options.notify,
        {"failed", fmt::format("study \"{}\" failed: {}", study, error.text()),
         document_json(
             {{"study", {{"name", study}}}, {"end", "error"}, {"reason", error.text()}})});
  }
  return context.console.error(error);
}

/// Tunes the study and prints the report. `opened`: the history that was opened before the program
/// was inspected; nullopt without an inspection, or if there was no history yet.
ExitCode tune_and_report(CommandContext& context, const RunOptions& options, StudySpec& study,
                         const Notifier& notifier, std::optional<History> opened) {
  const auto failed = [&](const Refusal& refusal) {
    return failed_run(context, options, notifier, study.name, refusal);
  };
  auto history = opened_or_new(std::move(opened), context.database(), context.clock);
  if (!history) return failed(history.error());
  for (const std::string& warning : history->warnings())
    context.console.warning(warning);
  const std::string name_in_file = study.name;
  const auto former = settle_identity(context.console, options, *history, study);
  if (!former) return failed(former.error());
  const auto agreed = confirm_spending(context.console, options, study,
                                       {{}, k_projection_repeats, context.database()});
  if (!agreed) return failed(agreed.error());
  const SignalFlags flags;
  const StudyTuning tuning{options.quiet, options.on_interrupt == "detach",
                           continuation(context, options, study, name_in_file, options.time),
                           options.inspected_s, options.seen_startup_s};
  const auto result = tune_study(context, tuning, study, *history, flags);
  if (!result) return failed(result.error());
  const ExitCode code = exit_code_of(*result, flags);
  const bool interrupted = code == ExitCode::interrupted || code == ExitCode::terminated;
  if (!interrupted) {
    const auto warning = keep_within(options.history_limit_bytes, *history, context.database(),
                                     study.name, context.clock.wall_time_s());
    if (warning) context.console.warning(*warning);
  }
  const auto report =
      make_run_report(context, std::move(*history), study.name, *result,
                      {options.verbose, continuation(context, options, study, name_in_file, "")});
  if (!report) return failed(report.error());
  print_run_report(context, *report, study.name, interrupted);
  if (!interrupted) {
    notify_if_wanted(
        context, notifier, options.notify,
        {run_event(*result), report->ended + "\n" + report->recommendation, report->json});
  }
  return code;
}

/// Returns a name for a run whose study file is unknown: the value of `--name`, or a name made from
/// the command after `--`. Otherwise returns the study file as typed, or `study` if none was typed.
std::string named_study(const CommandContext& context, const RunOptions& options) {
  if (!options.program.name.empty()) return options.program.name;
  if (context.separated) return study_name_of(context.after_separator);
  return options.words.empty() ? "study" : options.words.front();
}

ExitCode run_study(CommandContext& context, RunOptions& options) {
  if (const auto begun = begin_log(options, context.console.environment()); !begun) {
    return context.console.error(begun.error());
  }
  const auto notifier = Notifier::create(options.notify.targets, context.clock);
  if (!notifier) return context.console.error(notifier.error());
  options.program.quiet = options.quiet;
  const auto time_s = tuning_time_s(options.time);
  if (!time_s) return context.console.error(time_s.error());
  options.program.longest_s = *time_s;
  const auto worth = worth_share(options.worth);
  if (!worth) return context.console.error(worth.error());
  options.program.worth = *worth;
  std::optional<History> history;
  options.program.before_inspection = [&]() -> Result<void> {
    auto opened = open_if_present(context.database(), context.clock);
    if (!opened) return tl::unexpected(opened.error());
    history = *std::move(opened);
    return {};
  };
  const double inspected_from_s = context.clock.now_s();
  auto file = study_file_of(context, options.words, options.program);
  if (!file)
    return failed_run(context, options, *notifier, named_study(context, options), file.error());
  if (file->ended_by != ExitCode::ok) return file->ended_by;
  options.study = std::move(file->path);
  options.seen_startup_s = file->startup_s;
  options.inspected_s = context.clock.now_s() - inspected_from_s;
  auto study = open_study_file(context, options.study);
  if (!study) return failed_run(context, options, *notifier, options.study, study.error());
  if (const auto applied = apply_overrides(options, *study); !applied) {
    return context.console.error(applied.error());
  }
  return tune_and_report(context, options, *study, *notifier, std::move(history));
}

}  // namespace

void add_run_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<RunOptions>(
      program, context, "run", "Tune: measure configurations and recommend one",
      "  steptune run study.json\n"
      "  steptune run -- python3 train.py --epochs 90\n"
      "  steptune run study.json --trials 20 --time 10m\n"
      "Run again after an interruption: the study continues where it stopped.",
      run_study);
  command
      ->add_option(
          "STUDY", options->words,
          "Study file [default: the folder's], or after -- a training command to tune unchanged")
      ->option_text("[STUDY | -- COMMAND]");
  add_program_options(*command, options->program);
  add_value_option(*command, "--seed", options->seed, "N",
                   "Seed of the search [default: the study file's, else 0]")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 53));
  add_value_option(*command, "--trials", options->trials, "N",
                   "Most trials, the baseline's included [default: the study file's, else 40]")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  add_value_option(*command, "--time", options->time, "DURATION",
                   "Longest tuning time, such as 30m or 1h30m [default: the study file's, else "
                   "no limit]");
  add_value_option(*command, "--worth", options->worth, "PERCENT",
                   "Least gain that counts: end early once no configuration can gain as much "
                   "[default: the study file's, else 5%]");
  command->add_flag("--first-guesses", options->first_guesses,
                    "Begin with an expert's guesses, by the parameters' names or roles");
  command->add_flag("--new", options->fresh, "Begin a new study even if one of this name exists");
  command->add_flag("--yes", options->yes,
                    "Do not ask before paying for trials or leaving a study unfinished");
  add_value_option(*command, "--on-interrupt", options->on_interrupt, "WHAT",
                   "Running trials on Ctrl-C: stop, or detach if the runner can (they continue, "
                   "and the next run adopts them) [default: stop]")
      ->check(CLI::IsMember({"stop", "detach"}));
  add_value_option(*command, "--log-level", options->log_level, "LEVEL",
                   "Diagnostic log to stderr: debug, info, warning, error or off [default: "
                   "STEPTUNE_LOG, else off]")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}));
  command->add_flag("--quiet", options->quiet, "Show no progress, warnings only");
  command->add_flag("--verbose", options->verbose,
                    "Also print the leaderboard and the evidence behind the result");
  add_history_limit_option(*command, options->history_limit_bytes, "At the end");
  add_notify_options(*command, options->notify, {"completed", "improved", "failed", "budget"});
  add_json_option(*command, context);
}

}  // namespace steptune
