// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "common/pause.hpp"
#include "trial_runner/run_watch.hpp"
#include "tuner/cli/best_choice.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/followed_run.hpp"
#include "tuner/cli/line_printer.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/follow/follow_text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

struct FollowOptions {
  std::string study;
  std::vector<std::string> words;  ///< a log, or the command after `--`
  std::int64_t trial = 0;          ///< 0 means the recommended trial
  bool wait = false;
  bool json_lines = false;
};

/// Makes a follower with the study's promise for the chosen trial.
Result<Follower> make_follower(const StoredStudy& study, const BestChoice& choice,
                               std::optional<double> started_s) {
  const auto recommendation = stored_recommendation(study.record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  const auto standing = read_standing(study);
  if (!standing) return tl::unexpected(standing.error());
  const auto trace = study.history.trace(study.record.id, choice.trial.number);
  if (!trace) return tl::unexpected(trace.error());
  auto promise = promise_of(choice.study, choice.trial, *standing, *recommendation, *trace);
  if (!promise) return tl::unexpected(promise.error());
  return Follower::create(choice.study.report_format, *std::move(promise), started_s);
}

/// Starts the command in the environment in which the trial was measured.
Result<FollowedRun> start_run(const CommandContext& context, const BestChoice& choice,
                              const FollowOptions& options) {
  const auto variables = long_run_variables(choice, context.database(),
                                            context.console.environment(), /*reports=*/true);
  if (!variables) return tl::unexpected(variables.error());
  // With JSON on stdout, pass the command's output to stderr.
  const bool prints_json = context.json || options.json_lines;
  return FollowedRun::command(context.as_typed(options.words), *variables,
                              prints_json ? STDERR_FILENO : STDOUT_FILENO);
}

Result<FollowedRun> open_run(const CommandContext& context, const BestChoice& choice,
                             const FollowOptions& options) {
  if (context.separated) return start_run(context, choice, options);
  if (options.words.size() > 1) {
    return fail(ErrorKind::usage, "more than one log is given", "",
                "write a command after --: steptune follow STUDY -- COMMAND");
  }
  if (options.words.empty() || options.words.front() == "-") return FollowedRun::standard_input();
  return FollowedRun::log(options.words.front(), options.wait);
}

/// Returns the current state as a JSON document on one line.
std::string json_line(const StudyRecord& study, const Follower& follower, const FollowState& state,
                      bool has_ended) {
  Json json = document_json({{"study", json_of(study)}, {"ended", has_ended}});
  json.update(follow_json(follower.promise(), state));
  return dump_json(json) + "\n";
}

/// Follows one run, from its first line to the verdict.
class Following {
 public:
  /// `started_s` is the start time of a command; nullopt for a log.
  Following(CommandContext& context, bool json_lines, const StudyRecord& study, Follower& follower,
            FollowedRun& run, std::optional<double> started_s)
      : context_(context),
        json_lines_(json_lines),
        study_(study),
        follower_(follower),
        run_(run),
        printer_(STDERR_FILENO, is_smart_terminal(STDERR_FILENO, context.console.environment())) {
    // The machine is observed only for a command: a log may come from another machine.
    if (started_s && run.process()) watch_.emplace(*run.process(), *started_s);
  }

  /// Reads the output until its end or a signal. `signals` is null for a command, which receives
  /// signals itself.
  void until_the_end(const SignalFlags* signals) {
    next_s_ = context_.clock.now_s() + interval_s();
    const auto on_line = [&](std::string_view line, bool is_live) {
      if (is_live) {
        follower_.read_line(line, context_.clock.now_s());
      } else {
        follower_.read_old_line(line);
      }
    };
    while (run_.read(k_poll_s, on_line, [&] { printer_.clear(); })) {
      if (signals != nullptr && signals->count() > 0) break;
      look_at_machine();
      show();
      // A growing log never ends, so stop waiting for it if nobody reads the JSON lines any more.
      // Keep reading a program's pipe: the program would fail if it were closed.
      if (json_lines_ && run_.grows() && !context_.console.has_reader()) break;
    }
    printer_.clear();
  }

 private:
  void look_at_machine() {
    if (!watch_ || !run_.process()) return;
    if (const auto second = watch_->sample(context_.clock.now_s())) follower_.saw_machine(*second);
  }
  void show() {
    const double now_s = context_.clock.now_s();
    if (now_s < next_s_) return;
    const FollowState state = follower_.state();
    const std::string line = follow_line(follower_.promise(), state);
    if (json_lines_) {
      context_.console.result(json_line(study_, follower_, state, false));
    } else if (printer_.smart()) {
      printer_.status({line});
    } else {
      printer_.print(line);
    }
    next_s_ = now_s + interval_s();
  }
  /// Returns the seconds between two status lines. On a terminal, each line replaces the previous
  /// line.
  [[nodiscard]] double interval_s() const {
    if (json_lines_) return 10.0;
    return printer_.smart() ? 1.0 : 60.0;
  }

  CommandContext& context_;
  bool json_lines_;
  const StudyRecord& study_;
  Follower& follower_;
  FollowedRun& run_;
  std::optional<RunWatch> watch_;
  LinePrinter printer_;
  double next_s_ = 0.0;
};

void tell(CommandContext& context, const StoredStudy& study, const Follower& follower,
          const FollowState& state) {
  if (context.json) {
    Json json = document_json({{"study", json_of(study.record)}});
    json.update(follow_json(follower.promise(), state));
    return context.console.json_result(json);
  }
  std::string text = fmt::format(
      "follows  trial {} of {}: {}\n", follower.promise().trial, study.record.name,
      configuration_text(follower.promise().configuration, parameter_order(study.record.document)));
  text += follow_text(follower.promise(), state);
  if (const std::string clock = follower.clock_text(); !clock.empty()) {
    text += fmt::format("times    from {}\n", clock);
  }
  const std::size_t title_width = std::string_view("times    ").size();
  // stdout has the command's own output, so print the report on stderr.
  if (context.separated) {
    context.console.message(wrapped_entries(text, context.console.stderr_width(), title_width));
  } else {
    context.console.result(wrapped_entries(text, context.console.stdout_width(), title_width));
  }
}

ExitCode follow(CommandContext& context, const FollowOptions& options) {
  if (context.are_all_separated(1 + options.words.size())) {
    return context.console.error({ErrorKind::usage, "STUDY is required", "",
                                  "name a study: steptune follow STUDY -- COMMAND"});
  }
  const bool typed = options.words.empty() && isatty(STDIN_FILENO) == 1;
  if (typed || (options.words.empty() && context.separated)) {
    return context.console.error({ErrorKind::usage, "there is nothing to follow", "",
                                  "name a log, - for stdin, or a command after --"});
  }
  const auto opened = open_choice(context, options.study, options.trial);
  if (!opened) return context.console.error(opened.error());
  const BestChoice* choice = &opened->choice;
  warn_if_unfinished(context, opened->study.record);
  const auto night = open_study_of_night(context, opened->study, choice->from_study);
  if (!night) return context.console.error(night.error());
  const StoredStudy* study = *night ? &**night : &opened->study;
  const auto started_s =
      context.separated ? std::optional(context.clock.now_s()) : std::optional<double>();
  auto follower = make_follower(*study, *choice, started_s);
  if (!follower) return context.console.error(follower.error());
  std::optional<SignalFlags> signals;
  if (!context.separated) signals.emplace();
  auto run = open_run(context, *choice, options);
  if (!run) return context.console.error(run.error());
  Following(context, options.json_lines, study->record, *follower, *run, started_s)
      .until_the_end(signals ? &*signals : nullptr);
  const FollowState state = follower->state();
  if (options.json_lines) {
    context.console.result(json_line(study->record, *follower, state, true));
  } else {
    tell(context, *study, *follower, state);
  }
  if (const auto status = run->exit_status()) return static_cast<ExitCode>(*status);
  switch (state.keeping) {
    case Keeping::broken:
      return ExitCode::promise_broken;
    case Keeping::unknown:
      return ExitCode::failure;
    default:
      return ExitCode::ok;
  }
}

}  // namespace

void add_follow_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<FollowOptions>(
      program, context, "follow", "Compare a long run with what its study promised",
      "  steptune follow resnet-nightly train.log\n"
      "  python3 train.py 2>&1 | steptune follow resnet-nightly -\n"
      "  steptune follow resnet-nightly -- python3 train.py --batch-size 256",
      follow);
  command->add_option("STUDY", options->study, "Study, by name or file")->required();
  command
      ->add_option("LOG", options->words,
                   "The run's output: a file, - for stdin, or after -- the command that starts it "
                   "[default: -]")
      ->option_text("[LOG | -- COMMAND]");
  add_value_option(*command, "--trial", options->trial, "N",
                   "Trial whose configuration runs [default: the recommended one]")
      ->check(positive_number());
  command->add_flag("--wait", options->wait, "At the end of the file, wait for more until Ctrl-C");
  add_json_option(*command, context);
  command
      ->add_flag("--json-lines", options->json_lines,
                 "Print the state as a line of JSON, every 10 s and at the end")
      ->excludes("--json");
}

}  // namespace steptune
