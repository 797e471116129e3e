// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/program_look.hpp"
#include "tuner/init/python_source.hpp"
#include "tuner/init/study_guess.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

struct InitOptions {
  std::vector<std::string> words;  ///< the command after `--`
  std::string name;
  std::string output;
  bool force = false;
  bool no_run = false;
};

/// What was found out, and the file that follows from it.
struct InitResult {
  std::string found;  ///< for people: style of the help, trainer, script
  std::string help;   ///< why the help was not understood; empty where it was
  StudyGuess guess;
  std::string file;
};

/// The command of a folder with one training script.
Result<std::vector<std::string>> command_of_folder(const fs::path& folder) {
  std::vector<std::string> scripts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".py") scripts.push_back(entry.path().filename().string());
  }
  const bool has_train = std::ranges::find(scripts, "train.py") != scripts.end();
  if (!has_train && scripts.size() != 1) {
    return fail(ErrorKind::usage, "no command is given", "",
                "steptune init -- python3 train.py --epochs 90");
  }
  return std::vector<std::string>{"python3", has_train ? "train.py" : scripts.front()};
}

/// `init` as it goes through a program, step by step.
class Initiation {
 public:
  Initiation(CommandContext& context, const InitOptions& options, std::vector<std::string> argv)
      : context_(context), options_(options) {
    input_.program.argv = std::move(argv);
    input_.name = options.name.empty() ? study_name_of(input_.program.argv) : options.name;
    input_.folder = fs::current_path();
    input_.machine = machine_facts();
    result_.file = options.output.empty() ? input_.name + ".study.json" : options.output;
    look_.argv = input_.program.argv;
    look_.folder = input_.folder;
    look_.log_path = log_directory(context.database(), input_.name) / "init.log";
  }

  Result<InitResult> run() {
    if (!document::is_study_name(input_.name)) {
      return fail(ErrorKind::usage,
                  fmt::format("\"{}\" is no study name", printable_line(input_.name)), "--name",
                  "letters, digits and _.- are allowed, a letter or digit first");
    }
    std::error_code error;
    if (!options_.force &&
        fs::symlink_status(result_.file, error).type() != fs::file_type::not_found) {
      return fail(ErrorKind::usage, "is there already", result_.file,
                  "give another --output, or --force to write over it");
    }
    auto spaces = shipped_spaces();
    if (!spaces) return tl::unexpected(spaces.error());
    spaces_ = *std::move(spaces);
    if (auto done = learn_options(); !done) return tl::unexpected(done.error());
    if (auto done = look_at_run(); !done) return tl::unexpected(done.error());
    input_.interrupted = [this] { return flags_.count() > 0; };
    auto guess = guess_study(input_);
    if (input_.interrupted()) {
      return fail(ErrorKind::usage, "stopped before the program was known");
    }
    if (!guess && input_.space != nullptr) {
      input_.space = nullptr;
      guess = guess_study(input_);
    }
    if (!guess) {
      Error why = guess.error();
      if (!result_.help.empty()) why.message += fmt::format(" (its --help: {})", result_.help);
      return tl::unexpected(std::move(why));
    }
    result_.guess = *std::move(guess);
    if (auto done = write_file(); !done) return tl::unexpected(done.error());
    return std::move(result_);
  }

  [[nodiscard]] const SignalFlags& flags() const { return flags_; }

 private:
  void say(const std::string& text) {
    if (!context_.json) context_.console.message(text);
  }

  Result<void> learn_options() {
    ProgramFacts& program = input_.program;
    input_.space = space_by_command(spaces_, program.argv);
    std::vector<ProgramOption> from_source;
    if (const auto script = python_script_of(program.argv, input_.folder)) {
      if (const auto text = read_whole_file(*script)) {
        program.script = script->filename().string();
        from_source = options_of_source(*text, program.script);
      }
    }
    program.configs = configs_of(program.argv, input_.folder);
    HelpAnswer answer;
    if (input_.space == nullptr || input_.space->asks_help) {
      say(fmt::format("asks the program for its options: {} --help",
                      printable_line(shell_quoted(program.argv), 300)));
      auto asked = ask_help(look_, context_.clock, [this] { return flags_.count() > 0; });
      if (!asked) return tl::unexpected(asked.error());
      answer = *std::move(asked);
    } else {
      answer.ending = fmt::format("not asked: {} would begin to train", input_.space->title);
    }
    program.help_style = answer.help.style;
    result_.help = answer.ending;
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
    return {};
  }

  void describe_program(bool as_published) {
    const ProgramFacts& program = input_.program;
    std::vector<std::string> parts;
    if (!program.help_style.empty()) {
      parts.push_back(
          fmt::format("{} options ({} help)", program.options.size(), program.help_style));
    } else if (as_published) {
      parts.push_back(fmt::format("options as {} has them", input_.space->title));
    } else if (!program.options.empty()) {
      parts.push_back(fmt::format("{} options in {}", program.options.size(), program.script));
    }
    if (input_.space != nullptr && !as_published) parts.push_back(input_.space->title);
    for (const NamedConfig& config : program.configs)
      parts.push_back(printable_line(config.name, 60));
    result_.found = parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, "; "));
    if (!result_.help.empty()) result_.found += fmt::format(" (its --help: {})", result_.help);
  }

  Result<void> look_at_run() {
    if (options_.no_run) return {};
    say("runs the program as it is for some seconds");
    auto look = look_at_output(look_, context_.clock, [this] { return flags_.count() > 0; });
    if (!look) return tl::unexpected(look.error());
    input_.reading = std::move(look->reading);
    input_.survey = std::move(look->survey);
    look_ending_ = look->ending;
    return {};
  }

  Result<void> write_file() {
    StudyGuess& guess = result_.guess;
    if (!look_ending_.empty()) guess.notes.push_back(look_ending_);
    std::string text = fmt::format(
        "// Written by steptune init from {}: {}.\n// Change it as you like; 'steptune check' says "
        "what it means.\n",
        printable_line(shell_quoted(input_.program.argv), 500), printable_line(result_.found, 300));
    for (const std::string& left : guess.left)
      text += fmt::format("// not varied: {}\n", printable_line(left, 300));
    for (const std::string& note : guess.notes)
      text += fmt::format("// {}\n", printable_line(note, 300));
    text += study_text(guess.document, guess.comments) + "\n";
    const auto document = parse_json(text, result_.file);
    if (!document) return tl::unexpected(document.error());
    // What `check` would refuse is not written.
    const auto study = study_from_json(*document, fs::absolute(result_.file), input_.machine);
    if (!study) return tl::unexpected(study.error());
    return options_.force ? write_whole_file(result_.file, text)
                          : write_new_file(result_.file, text);
  }

  CommandContext& context_;
  const InitOptions& options_;
  const SignalFlags flags_;
  std::vector<ReadySpace> spaces_;
  GuessInput input_;
  LookOptions look_;
  std::string look_ending_;
  InitResult result_;
};

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
  const auto list = [&text](const char* name, const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      text += fmt::format("{:<7} {}\n", i == 0 ? name : "", printable_line(lines[i], 300));
  };
  list("leaves", result.guess.left);
  list("note", result.guess.notes);
  text += fmt::format("wrote   {0}\nnext    steptune check {0}", shell_quoted(result.file));
  return text;
}

Json init_json(const InitResult& result) {
  Json json;
  json["schema_version"] = k_json_schema_version;
  json["file"] = result.file;
  json["found"] = result.found;
  json["help_fault"] = result.help.empty() ? Json() : Json(result.help);
  json["varied"] = Json::array();
  for (const GuessedKnob& knob : result.guess.tuned) {
    json["varied"].push_back({{"parameter", knob.parameter},
                              {"role", knob.role},
                              {"option", knob.option.empty() ? Json() : Json(knob.option)},
                              {"range", knob.range},
                              {"today", knob.today.empty() ? Json() : Json(knob.today)},
                              {"from", knob.from.empty() ? Json() : Json(knob.from)}});
  }
  json["left"] = result.guess.left;
  json["notes"] = result.guess.notes;
  json["study"] = result.guess.document;
  return json;
}

ExitCode init_study(CommandContext& context, const InitOptions& options) {
  if (!context.separated && !options.words.empty()) {
    return context.console.error(
        {ErrorKind::usage,
         fmt::format("unexpected argument \"{}\"", printable_line(options.words.front())), "",
         "a command stands after --: steptune init -- python3 train.py"});
  }
  Result<std::vector<std::string>> argv = context.as_typed(options.words);
  if (argv->empty()) argv = command_of_folder(fs::current_path());
  if (!argv) return context.console.error(argv.error());
  Initiation initiation(context, options, *std::move(argv));
  const auto result = initiation.run();
  if (!result && initiation.flags().count() > 0) {
    context.console.message("stopped before the program was known; no study file was written");
    return initiation.flags().exit_code();
  }
  if (!result) return context.console.error(result.error());
  if (context.json) {
    context.console.json_result(init_json(*result));
  } else {
    context.console.result(init_text(*result) + "\n");
  }
  return ExitCode::ok;
}

}  // namespace

void add_init_command(CLI::App& program, CommandContext& context) {
  auto options = std::make_shared<InitOptions>();
  CLI::App* command =
      add_command(program, context, "init", "Write a study file for a training command",
                  "  steptune init -- python3 train.py --data images --epochs 90\n"
                  "  steptune init --output nightly.json -- torchrun --nproc_per_node 2 train.py\n"
                  "The command is run with --help, then as it is for some seconds, and ended.");
  command
      ->add_option("COMMAND", options->words,
                   "After --: the training command [default: python3 with the folder's script]")
      ->option_text("-- COMMAND");
  command->add_option("--name", options->name, "Name of the study [default: after the script]")
      ->option_text("NAME");
  command->add_option("--output", options->output, "File to write [default: NAME.study.json]")
      ->option_text("FILE");
  command->add_flag("--force", options->force, "Write over a file that is there");
  command->add_flag("--no-run", options->no_run,
                    "Ask for --help only: how the output is read is not found out");
  add_json_option(*command, context);
  command->callback([&context, options] {
    context.action = [&context, options] { return init_study(context, *options); };
  });
}

}  // namespace steptune
