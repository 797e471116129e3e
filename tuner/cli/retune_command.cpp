// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "tuner/cli/collection.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/git_worktrees.hpp"
#include "tuner/cli/line_printer.hpp"
#include "tuner/cli/live_display.hpp"
#include "tuner/cli/machine_of_trials.hpp"
#include "tuner/cli/notify_options.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/factory/study_parts.hpp"
#include "tuner/init/unread_trial.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/retune/night_bisection.hpp"
#include "tuner/retune/night_report.hpp"
#include "tuner/retune/retune.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/survey/interpreter_versions.hpp"

namespace steptune {
namespace {

struct RetuneCommandOptions {
  std::string study;
  std::string from;
  std::string time;
  std::optional<double> cost_usd;
  std::optional<std::int64_t> trials;
  double least_gain_percent = 2.0;
  std::size_t keep_nights = RetuneOptions{}.keep_nights;
  std::optional<std::uint64_t> history_limit_bytes;
  NotifyOptions notify;
  bool quiet = false;
};

/// Shows a night on a terminal and keeps its warnings.
class NightDisplay final : public LoopListener {
 public:
  NightDisplay(LiveDisplay& display, bool shown) : display_(display), shown_(shown) {}

  void on_phase(const std::string& phase) override {
    if (shown_) display_.on_phase(phase);
  }
  void on_trial_started(const TrialRecord& trial) override {
    if (shown_) display_.on_trial_started(trial);
  }
  void on_trial_ended(const TrialRecord& trial, const Standing& standing) override {
    if (shown_) display_.on_trial_ended(trial, standing);
  }
  void on_progress(const std::vector<const RunningTrial*>& running, double elapsed_s) override {
    if (shown_) display_.on_progress(running, elapsed_s);
  }
  void on_warning(const std::string& message) override {
    warnings.push_back(message);
    if (shown_) display_.on_warning(message);
  }

  std::vector<std::string> warnings;

 private:
  LiveDisplay& display_;
  bool shown_;
};

MachineDescription machine_of_night(const CommandContext& context, const StudySpec& study) {
  MachineDescription machine = machine_of_trials(study);
  machine.merge(interpreter_versions(study, context.clock, context.console.environment(),
                                     log_directory(context.database(), study.name)));
  return machine;
}

/// Returns the commit of the repository that contains the study's working directory; empty if there
/// is no repository.
std::string commit_of_program(const StudySpec& study) {
  return git_output({"-C", study.working_directory.string(), "rev-parse", "HEAD"}, "no commit")
      .value_or("");
}

/// Returns ` --db PATH` with an absolute path, for a command in another folder; empty if the user
/// gave no `--db`.
std::string absolute_database_option(const CommandContext& context) {
  if (context.db.empty()) return {};
  return " --db " + shell_quoted(std::filesystem::absolute(context.db).string());
}

/// Reads the study file `given`, or the stored study with that name.
Result<StudySpec> study_to_retune(const CommandContext& context, const std::string& given) {
  const bool is_file = given.ends_with(".json") || given.find('/') != std::string::npos;
  if (is_file) return open_study_file(context, given);
  const auto stored = open_stored_study(context, given);
  if (!stored) return tl::unexpected(stored.error());
  return checked_stored_spec(stored->record);
}

Result<RetuneOptions> retune_options(const RetuneCommandOptions& given, const StudySpec& study) {
  RetuneOptions options;
  options.from = given.from;
  options.least_gain = given.least_gain_percent / 100.0;
  options.keep_nights = given.keep_nights;
  options.bounds.cost_usd = given.cost_usd;
  options.bounds.trials = given.trials;
  const auto time_s = tuning_time_s(given.time);
  if (!time_s) return tl::unexpected(time_s.error());
  options.bounds.time_s = *time_s;
  const bool is_paid = study.runner->traits().longest_billed_s.has_value();
  if (is_paid && !given.cost_usd && !study.budget.cost_usd) {
    return fail(ErrorKind::usage,
                "these trials will be billed, and retune does not ask before it starts them",
                "--cost", "say how much a night may cost, in USD");
  }
  if (given.cost_usd && !study.runner->traits().has_price) {
    return fail(ErrorKind::usage, "the study has no price", "--cost",
                "give \"price_per_hour\" in \"runner\"");
  }
  return options;
}

ExitCode exit_code_of_night(NightResult result, const SignalFlags& flags) {
  switch (result) {
    case NightResult::kept:
      return ExitCode::ok;
    case NightResult::improved:
      return ExitCode::night_improved;
    case NightResult::regressed:
      return ExitCode::night_regressed;
    case NightResult::failed:
      return ExitCode::night_failed;
    case NightResult::running:
      break;
  }
  return flags.count() > 0 ? flags.exit_code() : ExitCode::interrupted;
}

void notify_all(CommandContext& context, const RetuneCommandOptions& given,
                const Notifier& notifier, const Night& night, const NightContext& about) {
  for (const std::string& event : night_events(night)) {
    notify_if_wanted(context, notifier, given.notify,
                     {event, night_text(night, about, 0), night_json(night, about)});
  }
}

/// Prints why a night could not start: on stderr, and with `--json` also on stdout. Returns the
/// exit code.
ExitCode say_why_not(CommandContext& context, const std::string& study, const Error& error) {
  if (context.json) context.console.result(dump_json(not_begun_json(study, error)) + "\n");
  return context.console.error(error);
}

/// Notifies the user that a night could not start, prints why, and returns the exit code.
ExitCode cannot_begin(CommandContext& context, const RetuneCommandOptions& given,
                      const Notifier& notifier, const std::string& study, const Error& error) {
  // If another night is under way, that night will report its own end.
  if (error.kind != ErrorKind::conflict) {
    notify_if_wanted(context, notifier, given.notify,
                     {"failed", fmt::format("failed  {}: {}", study, error.text()),
                      not_begun_json(study, error)});
  }
  return say_why_not(context, study, error);
}

ExitCode retune_study(CommandContext& context, const RetuneCommandOptions& given) {
  const std::string& name_or_file = given.study.empty() ? given.from : given.study;
  const auto notifier = Notifier::create(given.notify.targets, context.clock);
  if (!notifier) return say_why_not(context, name_or_file, notifier.error());
  if (name_or_file.empty()) {
    return say_why_not(
        context, name_or_file,
        {ErrorKind::usage, "name a study, or one of the history with --from", "", ""});
  }
  auto study = study_to_retune(context, name_or_file);
  if (!study) return cannot_begin(context, given, *notifier, name_or_file, study.error());
  const auto options = retune_options(given, *study);
  if (!options) return say_why_not(context, study->name, options.error());
  auto history = History::open_for_writing(context.database(), context.clock);
  if (!history) return cannot_begin(context, given, *notifier, study->name, history.error());
  const bool on_terminal = is_smart_terminal(STDERR_FILENO, context.console.environment());
  const bool shown = on_terminal && !given.quiet;
  LinePrinter printer(STDERR_FILENO, on_terminal);
  LiveDisplay display(printer, context.clock, context.clock, *study, given.quiet);
  NightDisplay listener(display, shown);
  for (const std::string& warning : history->warnings())
    listener.on_warning(warning);
  const SignalFlags flags;
  UnreadTrial unread(*study, context.clock, [&](const std::string& text) {
    listener.warnings.push_back(text);
    // Print advice of several lines here, because `on_warning` would join the lines.
    if (shown) printer.print("steptune: warning: " + text);
  });
  const auto night =
      retune({*study, *history, context.clock, listener,
              [&](const StudySpec& spec) { return make_study_parts(spec, context.clock); },
              [&](const std::string& name) { return log_directory(context.database(), name); },
              [&] { return flags.count(); }, machine_of_night(context, *study),
              [&](const std::filesystem::path& log, double run_s) {
                return unread.why_unread(log, run_s);
              },
              commit_of_program(*study)},
             *options);
  display.finish();
  if (!night) return cannot_begin(context, given, *notifier, study->name, night.error());
  if (night->result != NightResult::running) {
    const auto warning = keep_within(given.history_limit_bytes, *history, context.database(),
                                     night->study, context.clock.wall_time_s());
    if (warning) listener.on_warning(*warning);
  }
  const NightContext about{study->name, context.database_option(), parameter_order(study->document),
                           listener.warnings,
                           bisect_command(*study, *night, absolute_database_option(context))};
  if (context.json) {
    context.console.result(dump_json(night_json(*night, about)) + "\n");
  } else {
    context.console.result(night_text(*night, about, context.console.stdout_width()));
  }
  if (night->result != NightResult::running) {
    notify_all(context, given, *notifier, *night, about);
  }
  return exit_code_of_night(night->result, flags);
}

void add_bounds(CLI::App& command, RetuneCommandOptions& options) {
  add_value_option(command, "--time", options.time, "DURATION",
                   "Longest tuning time of a night, such as 30m [default: the study file's]");
  add_value_option(command, "--cost", options.cost_usd, "USD",
                   "Most USD that a night may cost [default: the study file's]")
      ->check(number_within(0.0001, 1e9));
  add_value_option(command, "--trials", options.trials, "N",
                   "Most trials of a night's search [default: the study file's, else 40]")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}));
  add_value_option(
      command, "--min-gain", options.least_gain_percent, "PERCENT",
      "Per cent by which another configuration must be faster to replace the one in use "
      "[default: 2]")
      ->check(number_within(0.0, 1000.0));
}

}  // namespace

void add_retune_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<RetuneCommandOptions>(
      program, context, "retune", "Tune again, every night: keep, improve or warn",
      "  steptune retune study.json --time 30m --json\n"
      "  steptune retune study.json --notify https://example.org/hook\n"
      "Exit status: 0 kept, 7 improved, 8 regressed, 9 failed; see docs/nightly.md.",
      retune_study);
  command->add_option("STUDY", options->study,
                      "Study file, or name of a study of the history [default: that of --from]");
  add_value_option(*command, "--from", options->from, "OTHER",
                   "Study of the history whose configuration is in use until the study has its own "
                   "nights [default: the study's own]");
  add_bounds(*command, *options);
  add_notify_options(*command, options->notify,
                     {"completed", "improved", "regressed", "failed", "budget"});
  add_value_option(
      *command, "--keep-nights", options->keep_nights, "N",
      "Nights whose trials are kept; of older ones only the result stays [default: 60]")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  add_history_limit_option(*command, options->history_limit_bytes, "After the night");
  command->add_flag("--quiet", options->quiet, "Show no progress, even on a terminal");
  add_json_option(*command, context);
  command->preparse_callback([&context, given = options](std::size_t /*words*/) {
    context.print_error_json = [&context, given](const Error& error) {
      context.console.result(dump_json(not_begun_json(given->study, error)) + "\n");
    };
  });
}

}  // namespace steptune
