// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/program_study.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/hook_reach.hpp"
#include "tuner/cli/initiation.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/init/planned_length.hpp"
#include "tuner/init/program_facts.hpp"
#include "tuner/init/ready_space.hpp"
#include "tuner/init/study_text.hpp"
#include "tuner/loop/hook_check.hpp"
#include "tuner/report/format.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/survey/draft.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// A program that has not imported PyTorch by then is none of it, in all likelihood.
constexpr double k_longest_import_s = 30.0;
/// Most have by then.
constexpr double k_usual_import_s = 10.0;

/// Shares of a tuning time: until the first step, after which the rest would not do to compare
/// anything, and of watching steps.
constexpr double k_most_until_step = 0.5;
constexpr double k_most_of_watching = 0.1;
/// A program's help, and some of its output, take so long at the least.
constexpr double k_least_look_s = 2.0;

/// How any program is tuned, in one example.
constexpr const char* k_by_hand =
    "any program with options can be tuned by a study file (docs/tutorial.md), which\n"
    "'steptune init -- COMMAND' writes, such as\n"
    "  {{\"name\": \"{}\", \"command\": [{}, \"--threads\", \"{{threads}}\"],\n"
    "   \"parameters\": {{\"threads\": {{\"type\": \"int\", \"low\": 1, \"high\": \"cpus\"}}}},\n"
    "   \"baseline\": {{\"threads\": 1}}, \"reports\": \"key=value\"}}";

Error not_from_outside(const std::string& why, const std::string& name,
                       const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  for (const std::string& word : argv)
    words.push_back(dump_json(Json(word)));
  return {ErrorKind::usage, why, "", fmt::format(k_by_hand, name, fmt::join(words, ", "))};
}

struct Refusal {
  Error error;
  bool may_have_options = false;  ///< it runs, but the hook has no hold on it
};

double until_step_s(double tuning_time_s) {
  return k_most_until_step * tuning_time_s;
}

/// A program that uses PyTorch, but has not made a step within its part of the tuning time.
Refusal too_little_time(double longest_s) {
  return {{ErrorKind::usage,
           fmt::format("the program made no step within {}, half of the tuning time: the other "
                       "half is too short to compare anything",
                       format_duration(until_step_s(longest_s))),
           "--time", "give a longer tuning time"}};
}

/// Why a surveyed program cannot be tuned from outside; nothing if it can.
std::optional<Refusal> why_not_surveyed(const Survey& survey, const std::string& name,
                                        const std::vector<std::string>& argv,
                                        const fs::path& folder, const fs::path& log,
                                        std::optional<double> longest_s) {
  if (survey.ended && survey.ended->kind == OutcomeKind::not_started) {
    return Refusal{{ErrorKind::usage, survey.ended->detail, "", ""}};
  }
  const bool known = survey.log.patched() && !survey.log.disabled() && !survey.is_unheard;
  if (known && survey.first) return std::nullopt;
  if (survey.ended && survey.ended->kind != OutcomeKind::completed) {
    return Refusal{
        {ErrorKind::usage,
         fmt::format("the program failed before it had trained: {}", survey.ended->detail), "",
         fmt::format("all of its output is in {}", log.string())}};
  }
  const bool may_train = survey.log.imported() && !survey.log.disabled() && !survey.is_unheard;
  const bool is_short = longest_s && until_step_s(*longest_s) < SurveyOptions().longest_start_s;
  if (is_short && may_train && !survey.ended && !survey.log.disabled("reports")) {
    return too_little_time(*longest_s);
  }
  if (!known) {
    return Refusal{not_from_outside(why_hook_is_silent(survey.log, argv, folder), name, argv),
                   true};
  }
  const auto why = survey.log.disabled("reports");
  return Refusal{
      not_from_outside(
          why ? fmt::format("the hook cannot tell the program's steps: {}", *why)
              : std::string(survey.ended ? "the program ended before its first step"
                                         : "the program made no step while it was watched"),
          name, argv),
      true};
}

std::string shown_at(const Json& event, const char* key) {
  const auto found = event.find(key);
  if (found == event.end()) return "";
  return printable_line(plain_text(*found), 60);
}

/// `PyTorch 1.13.1 on cpu; steps by optimizer (SGD), 64 samples each (loader)`.
std::string found_text(const Survey& survey) {
  const Json& patched = survey.log.event("patched");
  const Json& program = survey.log.event("program");
  std::string text =
      fmt::format("PyTorch {} on {}", shown_at(patched, "torch"), shown_at(patched, "device"));
  if (!program.is_object()) return text;
  text += fmt::format("; steps by {}", shown_at(program, "counts"));
  const auto optimizers = program.find("optimizers");
  if (optimizers != program.end() && optimizers->is_array() && !optimizers->empty()) {
    std::vector<std::string> names;
    for (const Json& name : *optimizers) {
      if (name.is_string()) names.push_back(printable_line(name.get<std::string>(), 60));
    }
    text += fmt::format(" ({})", fmt::join(names, ", "));
  }
  if (const auto samples = survey.samples_per_step()) {
    text += fmt::format(", {} samples each by {}", format_number(*samples),
                        shown_at(program, "samples_by"));
  }
  return text;
}

std::string step_text(const Survey& survey) {
  const auto seconds = survey.seconds_per_step();
  if (!seconds) return "";
  std::string text = format_duration(*seconds) + " a step";
  std::vector<std::pair<double, std::string>> parts;
  for (const auto& [name, share] : survey.part_shares())
    parts.emplace_back(share, name);
  std::ranges::sort(parts, std::greater<>());
  for (const auto& [share, name] : parts)
    text += fmt::format("{}{} {:.0f} %", text.find(':') == std::string::npos ? ": " : ", ",
                        printable_line(name, 40), 1e2 * share);
  return text;
}

std::string draft_text(const Survey& survey, const Draft& draft) {
  std::string text = fmt::format("found   {}\n", found_text(survey));
  if (const std::string step = step_text(survey); !step.empty()) {
    text += fmt::format("today   {}\n", step);
  }
  if (const Json& separate = survey.log.event("separate"); separate.is_object()) {
    text += fmt::format("note    {}\n", printable_line(text_at(separate, "why"), 300));
  }
  const auto list = [&text](const char* name, const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      text += fmt::format("{:<7} {}\n", i == 0 ? name : "", printable_line(lines[i], 300));
  };
  list("tunes", draft.tuned);
  list("leaves", draft.left);
  if (survey.ended && survey.ended->kind != OutcomeKind::completed) {
    text += fmt::format("note    the program failed after {:.0f} steps, and so may trials: {}\n",
                        survey.last.step.value_or(0.0), printable_line(survey.ended->detail, 300));
  } else if (survey.ended) {
    text += fmt::format(
        "note    the program ended by itself after {:.0f} steps: trials of that length are "
        "compared once they have five reports, but say little about a longer run; let the command "
        "train longer if the planned run does\n",
        survey.last.step.value_or(0.0));
  }
  if (std::ranges::find(survey.phases, "checkpoint") != survey.phases.end()) {
    text +=
        "note    the program writes checkpoints, and so will each trial: give it a scratch "
        "folder\n";
  }
  text.pop_back();
  return text;
}

std::string file_text(const Survey& survey, const Draft& draft,
                      const std::optional<PlannedLength>& planned,
                      const std::vector<std::string>& argv) {
  std::string text = fmt::format(
      "// Written by steptune from {}, run as it is: {}.\n"
      "// Change it as you like; 'steptune run' goes on with it. Knobs are explained in "
      "docs/hooks.md.\n",
      printable_line(shell_quoted(argv), 500), found_text(survey));
  if (planned) text += fmt::format("// planned run: {}\n", printable_line(planned->why));
  for (const std::string& left : draft.left)
    text += fmt::format("// not tuned: {}\n", printable_line(left, 300));
  return text + study_text(draft.document) + "\n";
}

/// What was asked for can be done to a program as it is alone.
bool needs_hook(const ProgramOptions& options) {
  return options.numeric || options.live || options.samples_per_step || options.planned_samples;
}

/// The file if it is there and of this command, nothing if it is not there.
Result<std::optional<std::string>> existing_file(CommandContext& context, const std::string& file,
                                                 const std::vector<std::string>& argv,
                                                 const ProgramOptions& options) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  const auto document = read_json_file(file);
  if (!document) return tl::unexpected(document.error());
  const auto command = document->find("command");
  const bool as_it_is = command != document->end() && *command == command_template(argv);
  const auto text = read_whole_file(file);
  if (!as_it_is && !(text && is_init_of(*text, argv))) {
    return fail(ErrorKind::usage, "is the study of another command", file,
                "give this one a name with --name, or remove the file");
  }
  if (needs_hook(options) || options.semantic) {
    return fail(ErrorKind::usage, "was written before; its options are in the file", file,
                "change the file, remove it to have it written anew, or give another --name");
  }
  if (!options.quiet) context.console.message(fmt::format("goes on with {}", printable_line(file)));
  return file;
}

Result<Survey> survey_of(CommandContext& context, const std::vector<std::string>& argv,
                         const ProgramOptions& options, const fs::path& folder, const fs::path& log,
                         const SignalFlags& flags) {
  SurveyOptions survey;
  survey.argv = argv;
  survey.folder = folder;
  survey.log_path = log;
  survey.samples_per_step = options.samples_per_step;
  survey.longest_import_s = k_longest_import_s;
  if (options.longest_s) {
    const double start_s = until_step_s(*options.longest_s);
    const double watch_s = k_most_of_watching * *options.longest_s;
    survey.longest_start_s = std::min(survey.longest_start_s, start_s);
    // The rest is for the options of a program that does not import it.
    survey.longest_import_s =
        std::min({survey.longest_import_s, start_s, std::max(k_usual_import_s, 0.5 * start_s)});
    survey.watch_s = std::min(survey.watch_s, watch_s);
    survey.longest_watch_s = std::min(survey.longest_watch_s, watch_s);
  }
  survey.no_step_yet = [&] {
    if (options.quiet) return;
    context.console.message(
        fmt::format("no step of training yet: waits for one for at most {}; its output is in {}",
                    format_duration(survey.longest_start_s), printable_line(log.string(), 300)));
  };
  if (!options.quiet) {
    context.console.message(fmt::format("runs the program as it is for some seconds: {}",
                                        printable_line(shell_quoted(argv), 300)));
  }
  return survey_program(survey, context.clock, [&flags] { return flags.count() > 0; });
}

/// Why the program's options are looked at, whatever a hook could set: its settings stand in a file
/// whose meaning is known. Empty where none does.
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

StudyFile stopped(CommandContext& context, const SignalFlags& flags) {
  context.console.message(
      "stopped before the program had been examined; no study file was written");
  return {"", flags.exit_code()};
}

/// With what is left of a tuning time's share for looking at the program, after `looked_s` of it;
/// nothing where that is too little to see what it prints.
std::optional<ProgramOptions> after_looking(ProgramOptions options, double looked_s) {
  if (!options.longest_s) return options;
  options.longest_s = *options.longest_s - looked_s / k_most_until_step;
  return k_most_until_step * *options.longest_s >= k_least_look_s ? std::optional(options)
                                                                  : std::nullopt;
}

/// The study file of a program that cannot be tuned as it is, `why`: by the options that it has.
Result<StudyFile> by_its_options(CommandContext& context, const std::vector<std::string>& argv,
                                 const std::string& name, const ProgramOptions& options, Error why,
                                 const SignalFlags& flags) {
  if (needs_hook(options)) return tl::unexpected(std::move(why));
  if (!options.quiet) {
    context.console.message(
        fmt::format("{}: looking at the program's own options and files", why.message));
  }
  InitRequest request;
  request.argv = argv;
  request.name = name;
  request.quiet = options.quiet;
  request.same_training = !options.semantic;
  if (options.longest_s) request.longest_s = until_step_s(*options.longest_s);
  const auto result = init_from_command(context, request, flags);
  if (!result && flags.count() > 0) return stopped(context, flags);
  if (!result) {
    why.message += fmt::format("; and by its options: {}", result.error().message);
    return tl::unexpected(std::move(why));
  }
  if (!options.quiet) context.console.message(init_text(*result));
  return StudyFile{result->file};
}

}  // namespace

void add_program_options(CLI::App& command, ProgramOptions& options) {
  command
      .add_option("--name", options.name,
                  "With a command: name of the study [default: after the script]")
      ->option_text("NAME");
  command.add_flag("--numeric", options.numeric,
                   "With a command: also tune what changes rounding (precision, TF32, "
                   "compilation), with a guard on the loss");
  command.add_flag("--semantic", options.semantic,
                   "With a command: also tune what changes the training (batch size), with a "
                   "guard on the loss");
  command.add_flag("--live", options.live,
                   "With a command: measure configurations in one running program, in turns with "
                   "the baseline");
  command
      .add_option("--samples-per-step", options.samples_per_step,
                  "With a command: samples of an optimizer step [default: counted]")
      ->option_text("N")
      ->check(CLI::PositiveNumber);
  command
      .add_option(
          "--samples", options.planned_samples,
          "With a command: samples that the long run will process [default: by its --epochs, "
          "--max-steps and the like, else not known]")
      ->option_text("N")
      ->check(CLI::PositiveNumber);
}

Result<StudyFile> only_study_file() {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::current_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (name == "study.json" || name.ends_with(".study.json")) files.push_back(name);
  }
  std::ranges::sort(files);
  if (files.size() == 1) return StudyFile{files.front()};
  if (files.empty()) {
    return fail(ErrorKind::usage, "no study file is given, and this folder has none", "",
                "steptune init -- COMMAND writes one");
  }
  return fail(ErrorKind::usage,
              fmt::format("no study file is given, and this folder has several: {}",
                          printable_line(fmt::format("{}", fmt::join(files, ", ")))),
              "", "name one of them");
}

Result<StudyFile> study_file_of(CommandContext& context, const std::vector<std::string>& words,
                                const ProgramOptions& options) {
  if (!context.separated) {
    if (words.empty()) return only_study_file();
    if (words.size() == 1) return StudyFile{words.front()};
    return fail(ErrorKind::usage,
                fmt::format("unexpected argument \"{}\"", printable_line(words[1])), "",
                "a program's command stands after --: steptune run -- python3 train.py");
  }
  if (words.size() > context.after_separator.size()) {
    return fail(ErrorKind::usage,
                fmt::format("both a study file, \"{}\", and a command are given",
                            printable_line(words.front())),
                "", "give one of them");
  }
  return study_file_for(context, context.as_typed(words), options);
}

Result<StudyFile> study_file_for(CommandContext& context, const std::vector<std::string>& argv,
                                 const ProgramOptions& options) {
  if (options.live && (options.numeric || options.semantic)) {
    return fail(ErrorKind::usage, "--live excludes --numeric and --semantic", "",
                "in one running program the loss belongs to no single configuration: leave one of "
                "them out");
  }
  const std::string name = options.name.empty() ? study_name_of(argv) : options.name;
  const std::string file = name + ".study.json";
  const auto existing = existing_file(context, file, argv, options);
  if (!existing) return tl::unexpected(existing.error());
  if (*existing) return StudyFile{**existing};
  const fs::path folder = fs::current_path();
  const SignalFlags flags;
  auto settings = needs_hook(options) ? Result<std::string>() : known_settings(argv, folder);
  if (!settings) return tl::unexpected(settings.error());
  if (!settings->empty()) {
    return by_its_options(context, argv, name, options, {ErrorKind::usage, *settings, "", ""},
                          flags);
  }
  if (const auto why = why_out_of_reach(argv, folder)) {
    Error error =
        not_from_outside(fmt::format("the program cannot be tuned as it is: {}", *why), name, argv);
    return by_its_options(context, argv, name, options, std::move(error), flags);
  }
  const fs::path log = log_directory(context.database(), name) / "survey.log";
  const double looked_from_s = context.clock.now_s();
  const auto survey = survey_of(context, argv, options, folder, log, flags);
  if (!survey && flags.count() > 0) return stopped(context, flags);
  if (!survey) return tl::unexpected(survey.error());
  if (auto why = why_not_surveyed(*survey, name, argv, folder, log, options.longest_s)) {
    if (!why->may_have_options) return tl::unexpected(std::move(why->error));
    const auto rest = after_looking(options, context.clock.now_s() - looked_from_s);
    if (!rest && !needs_hook(options)) {
      why->error.message += "; and half of the tuning time is over, before its options were seen";
      why->error.where = "--time";
      why->error.hint = "give a longer tuning time";
      return tl::unexpected(std::move(why->error));
    }
    return by_its_options(context, argv, name, rest.value_or(options), std::move(why->error),
                          flags);
  }
  DraftOptions wanted;
  wanted.name = name;
  wanted.argv = argv;
  wanted.numeric = options.numeric;
  wanted.semantic = options.semantic;
  wanted.live = options.live;
  wanted.samples_per_step = options.samples_per_step;
  wanted.planned_samples = options.planned_samples;
  std::optional<PlannedLength> planned;
  // Where the user counts samples in a way of his own, a loader's are others.
  if (!options.planned_samples && !options.samples_per_step)
    planned = planned_length(readable_facts(argv, folder), *survey);
  if (planned) {
    wanted.planned_samples = planned->samples;
    wanted.epoch_samples = planned->epoch_samples;
  }
  wanted.facts = detected_facts();
  const auto draft = draft_study(*survey, wanted);
  if (!draft) return tl::unexpected(draft.error());
  if (auto written = write_whole_file(file, file_text(*survey, *draft, planned, argv)); !written) {
    return tl::unexpected(written.error());
  }
  if (!options.quiet) {
    context.console.message(draft_text(*survey, *draft));
    if (planned) {
      context.console.message(
          fmt::format("plan    {} samples: {}", count_text(planned->samples), planned->why));
    }
    context.console.message(fmt::format("wrote   {}", printable_line(file)));
  }
  return StudyFile{file};
}

}  // namespace steptune
