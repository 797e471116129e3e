// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/initiation.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

struct InitOptions {
  std::vector<std::string> words;  ///< the command after `--`
  std::string name;
  std::string output;
  bool force = false;
  bool no_run = false;
  std::string input;
  std::vector<std::string> facts;
};

/// Returns the command for `train.py` in the folder, or for its only Python script.
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

/// Reads `NAME=NUMBER`, each with a number above 0.
Result<Facts> facts_of(const std::vector<std::string>& assignments) {
  Facts facts;
  for (const std::string& assignment : assignments) {
    const std::size_t sign = assignment.find('=');
    const auto number =
        sign == std::string::npos ? std::nullopt : parse_finite(assignment.substr(sign + 1));
    if (!number || *number <= 0.0 || sign == 0) {
      return fail(
          ErrorKind::usage,
          fmt::format("{} is not a name with a number above 0", printable_line(assignment, 80)),
          "--fact", "give NAME=NUMBER, such as heads=32");
    }
    facts[assignment.substr(0, sign)] = *number;
  }
  return facts;
}

Json init_json(const InitResult& result) {
  Json json = document_json();
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
  json["left_out"] = result.guess.left_out;
  json["notes"] = result.guess.notes;
  json["study"] = result.guess.document;
  return json;
}

ExitCode init_study(CommandContext& context, const InitOptions& options) {
  if (!context.separated && !options.words.empty()) {
    return context.console.error(
        {ErrorKind::usage,
         fmt::format("unexpected argument \"{}\"", printable_line(options.words.front())), "",
         "write a command after --: steptune init -- python3 train.py"});
  }
  Result<std::vector<std::string>> argv = context.as_typed(options.words);
  if (argv->empty()) argv = command_of_folder(fs::current_path());
  if (!argv) return context.console.error(argv.error());
  auto facts = facts_of(options.facts);
  if (!facts) return context.console.error(facts.error());
  const SignalFlags flags;
  InitRequest request{*std::move(argv), options.name,   options.output,
                      options.force,    options.no_run, context.json};
  request.input = options.input;
  request.facts = *std::move(facts);
  const auto result = init_from_command(context, request, flags);
  if (!result && flags.count() > 0) {
    context.console.message(
        "stopped before the program had been examined; no study file was written");
    return flags.exit_code();
  }
  if (!result) return context.console.error(result.error());
  return context.print([&] { return init_json(*result); },
                       [&] {
                         return fmt::format("{}\nnext    steptune check {}\n", init_text(*result),
                                            shell_quoted(result->file));
                       });
}

}  // namespace

void add_init_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<InitOptions>(
      program, context, "init", "Write a study file for a training command",
      "  steptune init -- python3 train.py --data images --epochs 90\n"
      "  steptune init --output nightly.json -- torchrun --nproc_per_node 2 train.py\n"
      "Runs the command with --help, then unchanged for some seconds, and ends it.",
      init_study);
  command
      ->add_option("COMMAND", options->words,
                   "After --: the training command [default: python3 with the folder's script]")
      ->option_text("[-- COMMAND]");
  add_value_option(*command, "--name", options->name, "NAME",
                   "Name of the study [default: after the script]");
  add_value_option(*command, "--output", options->output, "FILE",
                   "File to write [default: NAME.study.json]");
  command->add_flag("--force", options->force, "Overwrite an existing file");
  command->add_flag("--no-run", options->no_run,
                    "Only ask the program for --help: do not run it to read its output");
  add_value_option(*command, "--stdin", options->input, "FILE",
                   "File that the program reads as its standard input [default: none]");
  add_list_option(*command, "--fact", options->facts, "NAME=NUMBER",
                  "State a number that a known trainer's rules mention, such as heads=32; "
                  "repeatable [default: from the command and its files]");
  add_json_option(*command, context);
}

}  // namespace steptune
