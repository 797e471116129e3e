// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/write_program_study.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/json.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/hook_reach.hpp"
#include "tuner/cli/initiation.hpp"
#include "tuner/cli/input_file.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/cli/survey_text.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/init/planned_length.hpp"
#include "tuner/init/program_facts.hpp"
#include "tuner/init/program_look.hpp"
#include "tuner/init/ready_space.hpp"
#include "tuner/knobs/first_guesses.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/hook_check.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/survey/draft.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// Shares of a tuning time. At most half may pass before the first step, because otherwise too
/// little is left to compare anything. A tenth is for watching steps.
constexpr double k_most_until_step = 0.5;
constexpr double k_most_of_watching = 0.1;
/// Least time, in seconds, for reading a program's help.
constexpr double k_least_inspection_s = 2.0;

/// Hint with an example of a study file, for programs that cannot be tuned unchanged.
constexpr const char* k_by_hand =
    "any program with options can be tuned by a study file (docs/tutorial.md), which\n"
    "'steptune init -- COMMAND' writes, such as\n"
    "  {{\"name\": \"{}\", \"command\": [{}, \"--threads\", \"{{threads}}\"],\n"
    "   \"parameters\": {{\"threads\": {{\"type\": \"int\", \"low\": 1, \"high\": \"cpus\"}}}},\n"
    "   \"baseline\": {{\"threads\": 1}}, \"reports\": \"key=value\"}}";

/// Returns the number of search trials in this time. Assumes that each trial is measured for as
/// long as its start-up takes, and at least for `measure.min_window_s`.
double search_trials(double tuning_time_s, double startup_s) {
  const double trial_s = startup_s + std::max(startup_s, MeasureSpec().min_window_s);
  return std::clamp(k_search_share * tuning_time_s / trial_s, 1.0, k_most_contenders);
}

double until_step_s(double tuning_time_s) {
  return k_most_until_step * tuning_time_s;
}

/// True if the user asked for something that only the hook can do.
bool needs_hook(const ProgramOptions& options) {
  return options.safe || options.samples_per_step || options.planned_samples;
}

/// Returns the reason to tune the program's own options even if the hook could set something. The
/// reason is that the command names a known trainer's configuration file. Empty if there is none.
Result<std::string> known_settings(const std::vector<std::string>& argv, const fs::path& folder) {
  ProgramFacts program;
  program.configs = configs_of(argv, folder);
  if (program.configs.empty()) return std::string();
  const auto spaces = shipped_spaces();
  if (!spaces) return tl::unexpected(spaces.error());
  const ReadySpace* space = space_by_facts(*spaces, program);
  if (space == nullptr) return std::string();
  return fmt::format("the command names {}, whose settings are varied", space->title);
}

struct Refusal {
  Error error;
  bool may_have_options = false;  ///< the program runs, but the hook cannot tune it
};

/// Writes the study file of a program that has none yet.
class NewProgramStudy {
 public:
  NewProgramStudy(CommandContext& context, const std::vector<std::string>& argv,
                  const ProgramOptions& options, const std::string& name, const std::string& file)
      : context_(context),
        argv_(argv),
        options_(options),
        name_(name),
        file_(file),
        folder_(fs::current_path()),
        log_(log_directory(context.database(), name) / "survey.log") {}

  Result<StudyFile> write() {
    if (auto may = check_writable(file_); !may) return tl::unexpected(may.error());
    if (auto may = check_input_file(options_.input); !may) return tl::unexpected(may.error());
    auto settings = needs_hook(options_) ? Result<std::string>() : known_settings(argv_, folder_);
    if (!settings) return tl::unexpected(settings.error());
    if (!settings->empty()) {
      return by_its_options({ErrorKind::usage, *settings, "", ""}, options_.longest_s);
    }
    if (const auto why = why_out_of_reach(argv_, folder_)) {
      return by_its_options(
          not_from_outside(fmt::format("the program cannot be tuned unchanged: {}", *why)),
          options_.longest_s);
    }
    if (is_native_program(argv_, folder_)) {
      return by_its_options(
          not_from_outside(
              "the program is a native executable, which the Python hook cannot enter"),
          options_.longest_s);
    }
    const double inspected_from_s = context_.clock.now_s();
    const auto survey = inspect();
    if (!survey && flags_.count() > 0) return stopped();
    if (!survey) return tl::unexpected(survey.error());
    auto refusal = why_not(*survey);
    if (!refusal) return by_its_knobs(*survey);
    if (!refusal->may_have_options) return tl::unexpected(std::move(refusal->error));
    return by_its_options_after(std::move(refusal->error),
                                context_.clock.now_s() - inspected_from_s);
  }

 private:
  void say(const std::string& text) {
    if (!options_.quiet) context_.console.message(text);
  }

  StudyFile stopped() {
    context_.console.message(
        "stopped before the program had been examined; no study file was written");
    return {"", flags_.exit_code()};
  }

  [[nodiscard]] Error not_from_outside(const std::string& why) const {
    std::vector<std::string> words;
    for (const std::string& word : argv_)
      words.push_back(dump_json(Json(word)));
    return {ErrorKind::usage, why, "", fmt::format(k_by_hand, name_, fmt::join(words, ", "))};
  }

  /// Surveys the program by the hook's events and by its printed output. If the program needs a
  /// terminal, runs it again with a terminal.
  Result<Survey> inspect() {
    auto survey = look_once();
    const bool lacks_terminal =
        survey && survey->ended && survey->ended->lacked_stream == LackedStream::terminal;
    if (!lacks_terminal) return survey;
    say("the program needs a terminal: runs it again with one");
    terminal_ = true;
    return look_once();
  }

  Result<Survey> look_once() {
    const LookOptions of_output;
    OutputWatch output(log_, context_.clock, of_output.watch_s);
    SurveyOptions survey;
    survey.terminal = terminal_;
    if (!options_.input.empty()) survey.standard_input = folder_ / options_.input;
    // Do not wait for PyTorch once a program prints progress without it.
    survey.seen_enough = [&](HookProgress hook) {
      output.poll();
      if (hook == HookProgress::none && output.has_seen_enough()) return true;
      return output.is_not_understood(hook);
    };
    survey.argv = argv_;
    survey.folder = folder_;
    survey.log_path = log_;
    survey.samples_per_step = options_.samples_per_step;
    survey.replay = true;
    survey.longest_import_s = of_output.longest_start_s;
    if (options_.longest_s) {
      const double start_s = until_step_s(*options_.longest_s);
      const double watch_s = k_most_of_watching * *options_.longest_s;
      survey.longest_start_s = std::min(survey.longest_start_s, start_s);
      // A program without PyTorch is asked for its help afterwards.
      survey.longest_import_s =
          std::min(survey.longest_import_s, (1.0 - k_share_of_help) * start_s);
      survey.watch_s = std::min(survey.watch_s, watch_s);
      survey.longest_watch_s = std::min(survey.longest_watch_s, watch_s);
    }
    survey.no_step_yet = [&] {
      say(fmt::format("no step of training yet: waits for one for at most {}; its output is in {}",
                      format_duration(survey.longest_start_s), printable_line(log_.string(), 300)));
    };
    say(fmt::format("runs the program unchanged for some seconds: {}",
                    printable_line(shell_quoted(argv_), 300)));
    auto seen = survey_program(survey, context_.clock, [this] { return flags_.count() > 0; });
    if (seen) output_ = output.result(*seen);
    return seen;
  }

  /// Returns why a surveyed program cannot be tuned by the hook; nullopt if it can.
  [[nodiscard]] std::optional<Refusal> why_not(const Survey& survey) const {
    if (survey.ended && survey.ended->kind == OutcomeKind::not_started) {
      return Refusal{{ErrorKind::usage, survey.ended->detail, "", ""}};
    }
    const bool known = survey.log.patched() && !survey.log.disabled() && !survey.is_unheard;
    if (known && survey.first) return std::nullopt;
    if (survey.ended && survey.ended->kind != OutcomeKind::completed) {
      return Refusal{
          {ErrorKind::usage,
           fmt::format("the program failed before it had trained: {}", survey.ended->detail), "",
           fmt::format("all of its output is in {}", log_.string())}};
    }
    const bool may_train = survey.log.imported() && !survey.log.disabled() && !survey.is_unheard;
    if (was_short_of_time() && may_train && !survey.ended) {
      return Refusal{
          {ErrorKind::usage,
           fmt::format("the program made no step within {}, half of the tuning time: the other "
                       "half is too short to compare anything",
                       format_duration(until_step_s(*options_.longest_s))),
           "--time", "give a longer tuning time"}};
    }
    const std::string why = !known         ? why_hook_is_silent(survey.log, argv_, folder_)
                            : survey.ended ? "the program ended before its first step"
                                           : "the program made no step while it was watched";
    return Refusal{not_from_outside(why), true};
  }

  /// True if the short tuning time made the survey wait less long than usual for the first step.
  [[nodiscard]] bool was_short_of_time() const {
    return options_.longest_s &&
           until_step_s(*options_.longest_s) < SurveyOptions().longest_start_s;
  }

  /// Writes the study of a program that the hook can tune.
  Result<StudyFile> by_its_knobs(const Survey& survey) {
    DraftOptions wanted;
    wanted.name = name_;
    wanted.argv = argv_;
    wanted.numeric = !options_.safe;
    wanted.semantic = options_.semantic;
    wanted.samples_per_step = options_.samples_per_step;
    wanted.planned_samples = options_.planned_samples;
    std::optional<PlannedLength> planned;
    // If the user gave a count of samples, the loader may count in another unit, so do not read the
    // planned length.
    if (!options_.planned_samples && !options_.samples_per_step)
      planned = planned_length(readable_facts(argv_, folder_), survey);
    if (planned) {
      wanted.planned_samples = planned->samples;
      wanted.epoch_samples = planned->epoch_samples;
    }
    wanted.facts = detected_facts();
    if (options_.worth) wanted.worth = *options_.worth;
    if (options_.longest_s) wanted.trials = search_trials(*options_.longest_s, survey.startup_s);
    wanted.cpu_computes_bfloat16 = guess_machine(SystemFiles{}, 1, 0).computes_bfloat16;
    auto draft = draft_study(survey, wanted);
    if (!draft) return tl::unexpected(draft.error());
    if (terminal_) draft->document["terminal"] = true;
    if (!options_.input.empty()) draft->document["stdin"] = options_.input;
    const std::string text =
        study_file_text(survey, *draft, planned, argv_, options_line(options_));
    if (auto written = write_whole_file(file_, text); !written) {
      return tl::unexpected(written.error());
    }
    say(draft_text(survey, *draft));
    if (planned) {
      say(fmt::format("plan    {} samples: {}", count_text(planned->samples), planned->why));
      if (!planned->disagreement.empty()) say(fmt::format("note    {}", planned->disagreement));
    } else if (!options_.planned_samples) {
      say("plan    not known: times are per million samples; --samples N says how many the long "
          "run has");
    }
    say(fmt::format("wrote   {}", printable_line(file_)));
    return StudyFile{file_, ExitCode::ok, survey.startup_s};
  }

  /// Writes a study that tunes the program's own options, because the hook cannot tune it for the
  /// reason `why`. `longest_s` is the limit of the tuning time, if any.
  Result<StudyFile> by_its_options(Error why, std::optional<double> longest_s) {
    if (needs_hook(options_)) return tl::unexpected(std::move(why));
    say(fmt::format("{}: looking at the program's own options and files", why.message));
    InitRequest request;
    request.argv = argv_;
    request.name = name_;
    request.quiet = options_.quiet;
    request.requires_progress = true;
    request.same_training = !options_.semantic;
    request.terminal = terminal_;
    request.input = options_.input;
    request.look = output_;
    request.options = options_line(options_);
    if (longest_s) request.longest_s = until_step_s(*longest_s);
    const auto result = init_from_command(context_, request, flags_);
    if (!result && flags_.count() > 0) return stopped();
    if (!result) {
      why.message +=
          fmt::format("; its own options cannot be tuned, either: {}", result.error().message);
      if (!result.error().hint.empty()) why.hint = result.error().hint;
      return tl::unexpected(std::move(why));
    }
    say(init_text(*result));
    return StudyFile{result->file};
  }

  /// Like `by_its_options`, but subtracts `inspected_s`, the time that examining the program has
  /// already taken.
  Result<StudyFile> by_its_options_after(Error why, double inspected_s) {
    std::optional<double> longest_s = options_.longest_s;
    if (longest_s) *longest_s -= inspected_s / k_most_until_step;
    if (longest_s && until_step_s(*longest_s) < k_least_inspection_s && !needs_hook(options_)) {
      why.message += "; half of the tuning time was over before its own options could be read";
      why.where = "--time";
      why.hint = "give a longer tuning time";
      return tl::unexpected(std::move(why));
    }
    return by_its_options(std::move(why), longest_s);
  }

  CommandContext& context_;
  const std::vector<std::string>& argv_;
  const ProgramOptions& options_;
  const std::string& name_;
  const std::string& file_;
  fs::path folder_;
  fs::path log_;
  bool terminal_ = false;             ///< the program needs a terminal
  std::optional<OutputLook> output_;  ///< output that the program printed in the survey
  SignalFlags flags_;
};

}  // namespace

std::vector<std::string> given_options(const ProgramOptions& options) {
  std::vector<std::string> given;
  if (options.safe) given.emplace_back("--safe");
  if (options.semantic) given.emplace_back("--semantic");
  if (options.samples_per_step) {
    given.push_back(fmt::format("--samples-per-step {}", *options.samples_per_step));
  }
  if (options.planned_samples) {
    given.push_back(fmt::format("--samples {}", *options.planned_samples));
  }
  if (!options.input.empty()) {
    given.push_back("--stdin " + printable_line(shell_quoted(options.input), k_any_length));
  }
  return given;
}

std::string options_line(const ProgramOptions& options) {
  const auto given = given_options(options);
  return given.empty() ? "" : fmt::format("// Options: {}\n", fmt::join(given, " "));
}

Result<StudyFile> write_program_study(CommandContext& context, const std::vector<std::string>& argv,
                                      const ProgramOptions& options, const std::string& name,
                                      const std::string& file) {
  return NewProgramStudy(context, argv, options, name, file).write();
}

}  // namespace steptune
