// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/initiation.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/hook_reach.hpp"
#include "tuner/cli/input_file.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/cli/survey_text.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/help_text.hpp"
#include "tuner/init/model_files.hpp"
#include "tuner/init/overrides.hpp"
#include "tuner/init/program_look.hpp"
#include "tuner/init/python_source.hpp"
#include "tuner/init/space_laws.hpp"
#include "tuner/knobs/first_guesses.hpp"
#include "tuner/report/format.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// A key that every generated study file has after `reports`.
constexpr std::string_view k_after_reports = "/search";

/// Adjusts paths of a study file in the folder `place`, so that trials run in the folder `here`,
/// where the user typed the command. Paths in a study file are relative to its folder.
void place_study(const fs::path& place, const fs::path& here, StudyGuess& guess) {
  std::error_code error;
  fs::path way = fs::relative(here, place, error);
  if (error || way.empty()) way = here;
  if (way == ".") return;
  guess.document["working_directory"] = way.string();
  guess.comments["/working_directory"] = "the folder in which init ran";
  if (guess.document.contains("stdin")) {
    guess.document["stdin"] = (way / text_at(guess.document, "stdin")).lexically_normal().string();
  }
  if (!guess.document.contains("config_files")) return;
  for (auto& [name, config] : guess.document["config_files"].items())
    config["file"] = (way / text_at(config, "file")).lexically_normal().string();
}

/// The steps of `init`.
class Initiation {
 public:
  Initiation(CommandContext& context, const InitRequest& request, const SignalFlags& flags)
      : context_(context), options_(request), flags_(flags) {
    input_.program.argv = request.argv;
    input_.name = request.name.empty() ? study_name_of(request.argv) : request.name;
    input_.folder = fs::current_path();
    input_.same_training = request.same_training;
    input_.machine = detected_facts();
    input_.cpu_computes_bfloat16 = guess_machine(SystemFiles{}, 1, 0).computes_bfloat16;
    input_.given_facts = request.facts;
    input_.model_cache = hub_cache(context.console.environment());
    result_.file = request.file.empty() ? input_.name + ".study.json" : request.file;
    look_.argv = request.argv;
    look_.folder = input_.folder;
    look_.terminal = request.terminal;
    if (!request.input.empty()) look_.standard_input = input_.folder / request.input;
    look_.output_is_known = request.no_run || request.look.has_value();
    look_.log_path = log_directory(context.database(), input_.name) / "init.log";
    if (request.longest_s) {
      look_.longest_help_s = std::min(look_.longest_help_s, k_share_of_help * *request.longest_s);
      look_.longest_start_s =
          std::min(look_.longest_start_s, (1.0 - k_share_of_help) * *request.longest_s);
    }
  }

  Result<InitResult> run() {
    if (auto named = check_study_name(input_.name); !named) return tl::unexpected(named.error());
    std::error_code error;
    if (!options_.force && fs::exists(fs::symlink_status(result_.file, error))) {
      return fail(ErrorKind::usage, "already exists", result_.file,
                  "give another --output, or --force to overwrite it");
    }
    if (auto may = check_writable(result_.file); !may) return tl::unexpected(may.error());
    if (auto may = check_input_file(options_.input); !may) return tl::unexpected(may.error());
    auto spaces = shipped_spaces();
    if (!spaces) return tl::unexpected(spaces.error());
    spaces_ = *std::move(spaces);
    if (auto done = learn_options(); !done) return tl::unexpected(done.error());
    if (auto known = check_facts(input_.given_facts, input_.space); !known) {
      return tl::unexpected(known.error());
    }
    if (auto done = look_at_run(); !done) return tl::unexpected(done.error());
    input_.interrupted = [this] { return flags_.count() > 0; };
    auto guess = guess_study(input_);
    if (input_.interrupted()) {
      return fail(ErrorKind::usage, "stopped before the program had been examined");
    }
    if (!guess && input_.space != nullptr) {
      input_.space = nullptr;
      guess = guess_study(input_);
    }
    const bool lacks_progress = options_.requires_progress && !has_progress();
    if (!look_failure_.empty() && (!guess || lacks_progress)) {
      return fail(
          ErrorKind::usage,
          fmt::format("the program failed before it reported progress: {}", look_failure_), "",
          fmt::format("all of its output is in {}", printable_line(look_.log_path.string(), 300)));
    }
    if (!guess) {
      Error why = guess.error();
      if (!result_.help.empty()) why.message += fmt::format(" (with --help, {})", result_.help);
      if (unread_) {
        why.message += fmt::format(
            "\n  environment variables (threads, allocator) are not varied either, because no "
            "progress was read: {}",
            unread_text(*unread_));
      }
      if (options_.requires_progress) why.hint.clear();  // the caller shows a study file instead
      return tl::unexpected(std::move(why));
    }
    if (lacks_progress) {
      const bool has_expression = unread_ && !unread_comment(*unread_).empty();
      return fail(ErrorKind::usage, unread_ ? unread_text(*unread_) : look_ending_, "",
                  has_expression ? fmt::format("'steptune init -- {}' writes a study file that "
                                               "has this part as a comment",
                                               shell_quoted(options_.argv))
                                 : "");
    }
    result_.guess = *std::move(guess);
    if (auto done = write_file(); !done) return tl::unexpected(done.error());
    return std::move(result_);
  }

 private:
  void say(const std::string& text) {
    if (!options_.quiet) context_.console.message(text);
  }

  [[nodiscard]] bool has_progress() const {
    const bool as_published = input_.space != nullptr && !input_.space->reports.is_null();
    return as_published || input_.reading || input_.survey;
  }

  Result<void> learn_options() {
    ProgramFacts& program = input_.program;
    input_.space = space_by_command(spaces_, program.argv);
    program = readable_facts(program.argv, input_.folder);
    std::vector<ProgramOption> from_source = std::exchange(program.options, {});
    HelpAnswer answer;
    if (input_.space == nullptr || input_.space->asks_help) {
      say(fmt::format("asks the program for its options: {} --help",
                      printable_line(shell_quoted(program.argv), 300)));
      const auto is_interrupted = [this] { return flags_.count() > 0; };
      auto asked = ask_help(look_, context_.clock, is_interrupted);
      if (asked && gives_terminal(asked->lacked_stream)) {
        asked = ask_help(look_, context_.clock, is_interrupted);
      }
      if (!asked) return tl::unexpected(asked.error());
      answer = *std::move(asked);
      if (answer.look) seen_ = std::move(answer.look);
    } else {
      answer.ending = fmt::format("not asked: {} would begin to train", input_.space->title);
    }
    if (!answer.help.understood() && is_native_program(program.argv, input_.folder)) {
      const std::string& executable = program.argv[program_words(program.argv).begin - 1];
      HelpText built_in = parse_help(texts_of_executable(input_.folder / executable));
      if (!built_in.options.empty()) {
        answer.help = std::move(built_in);
        answer.help.style = "built-in";
      }
    }
    program.help_style = answer.help.style;
    result_.help = answer.ending;
    program.source_defaults = from_source;
    program.options = merged_options(std::move(answer.help.options), std::move(from_source));
    const bool as_published = program.options.empty() && input_.space != nullptr;
    if (as_published) program.options = declared_options(*input_.space);
    if (program.help_style == "argparse") {
      program.argv = with_full_names(std::move(program.argv), program.options);
    }
    if (const ReadySpace* by_facts = space_by_facts(spaces_, program)) {
      input_.space = by_facts;
    }
    describe_program(as_published);
    program.options = with_overrides(std::move(program.options), program);
    return {};
  }

  void describe_program(bool as_published) {
    const ProgramFacts& program = input_.program;
    std::vector<std::string> parts;
    if (!program.help_style.empty()) {
      parts.push_back(
          fmt::format("{} options ({} help)", program.options.size(), program.help_style));
    } else if (as_published) {
      parts.push_back(fmt::format("options by the documentation of {}", input_.space->title));
    } else if (!program.options.empty()) {
      parts.push_back(fmt::format("{} options in {}", program.options.size(), program.script));
    }
    if (input_.space != nullptr && !as_published) parts.push_back(input_.space->title);
    for (const NamedConfig& config : program.configs)
      parts.push_back(printable_line(config.name, 60));
    result_.found = parts.empty() ? "no options" : fmt::format("{}", fmt::join(parts, "; "));
    if (!result_.help.empty()) result_.found += fmt::format(" (with --help, {})", result_.help);
  }

  Result<OutputLook> run_once() {
    say(
        fmt::format("runs the program unchanged until it has reported progress for some seconds, "
                    "for at most {}",
                    format_duration(look_.longest_start_s)));
    return look_at_output(look_, context_.clock, [this] { return flags_.count() > 0; });
  }

  /// If the program failed for lack of a terminal, runs it with a terminal from now on, and returns
  /// true.
  bool gives_terminal(LackedStream lacked) {
    if (lacked != LackedStream::terminal || look_.terminal) return false;
    look_.terminal = true;
    say("the program needs a terminal: runs it again with one");
    return true;
  }

  Result<void> look_at_run() {
    if (options_.no_run) return {};
    if (!seen_) seen_ = options_.look;
    auto look = seen_ ? Result<OutputLook>(*std::move(seen_)) : run_once();
    if (look && gives_terminal(look->lacked_stream)) look = run_once();
    if (!look) return tl::unexpected(look.error());
    input_.reading = std::move(look->reading);
    input_.survey = std::move(look->survey);
    input_.runtimes = std::move(look->runtimes);
    input_.activity = look->activity;
    look_ending_ = look->ending;
    if (!input_.reading) unread_ = std::move(look->unread);
    look_failure_ = look->failure;
    in_blocks_ = look->in_blocks;
    return {};
  }

  Result<void> write_file() {
    StudyGuess& guess = result_.guess;
    if (look_.terminal) guess.document["terminal"] = true;
    if (!options_.input.empty()) guess.document["stdin"] = options_.input;
    place_study(fs::absolute(result_.file).parent_path(), input_.folder, guess);
    if (!look_ending_.empty()) guess.notes.push_back(look_ending_);
    const std::string comment = unread_ ? unread_comment(*unread_) : "";
    if (!comment.empty()) guess.comments[std::string(k_after_reports)] = comment;
    if (in_blocks_) {
      guess.notes.emplace_back(
          "its output comes in blocks of 4 KiB, so that measuring takes longer: let the program "
          "flush it, or begin the command with stdbuf -oL");
    }
    std::string text = fmt::format(
        "{}{}.\n// Change it as you like; 'steptune check' says what it means.\n{}",
        init_heading(options_.argv), printable_line(result_.found, 300), options_.options);
    for (const std::string& left : guess.left_out)
      text += fmt::format("// not varied: {}\n", printable_line(left, 300));
    for (const std::string& note : guess.notes)
      text += fmt::format("// {}\n", printable_line(note, 300));
    text += study_text(guess.document, guess.comments) + "\n";
    const auto document = parse_json(text, result_.file);
    if (!document) return tl::unexpected(document.error());
    // Do not write a file that `check` would refuse.
    const auto study = study_from_json(*document, fs::absolute(result_.file), input_.machine);
    if (!study) return tl::unexpected(study.error());
    return options_.force ? write_whole_file(result_.file, text)
                          : write_new_file(result_.file, text);
  }

  CommandContext& context_;
  const InitRequest& options_;
  const SignalFlags& flags_;
  std::vector<ReadySpace> spaces_;
  GuessInput input_;
  LookOptions look_;
  std::optional<OutputLook> seen_;
  std::string look_ending_;
  std::string look_failure_;
  std::optional<UnreadOutput> unread_;
  bool in_blocks_ = false;
  InitResult result_;
};

}  // namespace

ProgramFacts readable_facts(const std::vector<std::string>& argv, const fs::path& folder) {
  ProgramFacts program;
  program.argv = argv;
  program.configs = configs_of(argv, folder);
  program.options = with_overrides({}, program);
  const auto script = python_script_of(argv, folder);
  if (!script) return program;
  const auto text = read_whole_file(*script);
  if (!text) return program;
  program.script = script->filename().string();
  program.options = with_overrides(options_of_source(*text, program.script), program);
  program.loop_bounds = loop_bounds_of(*text, program.script);
  return program;
}

Result<InitResult> init_from_command(CommandContext& context, const InitRequest& request,
                                     const SignalFlags& flags) {
  return Initiation(context, request, flags).run();
}

std::string init_heading(const std::vector<std::string>& argv) {
  return fmt::format("// Written by steptune init from {}: ", quoted_command(argv));
}

std::string init_text(const InitResult& result) {
  std::string text = fmt::format("found   {}\n", result.found);
  bool first = true;
  for (const GuessedKnob& knob : result.guess.tuned) {
    std::string line = fmt::format("{} {}", knob.parameter, knob.range);
    if (!knob.today.empty()) line += fmt::format(", today {}", knob.today);
    if (!knob.from.empty()) line += fmt::format(" ({})", knob.from);
    text += fmt::format("{:<7} {}\n", first ? "varies" : "", printable_line(line, 200));
    first = false;
  }
  text += titled_lines("leaves", result.guess.left_out);
  text += titled_lines("note", result.guess.notes);
  return text + fmt::format("wrote   {}", shell_quoted(result.file));
}

}  // namespace steptune
