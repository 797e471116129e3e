// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "tuner/cli/build_info.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/completion.hpp"
#include "tuner/cli/signals.hpp"

namespace steptune {
namespace {

constexpr const char* k_short_help =
    "Steptune finds the configuration that trains your model fastest, or cheapest, before the long "
    "run starts.\n"
    "\n"
    "  steptune run -- python3 train.py    tune a PyTorch program unchanged\n"
    "  steptune init -- ./train            write a study file for any program\n"
    "  steptune run study.json             tune, and recommend a configuration\n"
    "\n"
    "'steptune --help' lists all commands; 'steptune COMMAND --help' explains one.\n";

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// Returns the chosen command, or the program itself.
const CLI::App& chosen(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return commands.empty() ? program : *commands.front();
}

std::string help_hint(const CLI::App& program) {
  const CLI::App& app = chosen(program);
  return app.get_parent() == nullptr ? "see 'steptune --help'"
                                     : fmt::format("see 'steptune {} --help'", app.get_name());
}

/// Returns the argument for a program's command after `--`; null if the command takes none.
const CLI::Option* command_argument(const CLI::App& app) {
  const auto options = app.get_options([](const CLI::Option* option) {
    return option->get_positional() && option->get_option_text().find("--") != std::string::npos;
  });
  return options.empty() ? nullptr : options.front();
}

/// Returns the error of the first unknown option in `own`; nullopt if all options are known. `own`
/// are the words in front of `--`.
std::optional<Error> unknown_option(const CLI::App& program, std::span<const char* const> own,
                                    bool separated) {
  const CLI::App& app = chosen(program);
  const std::vector<std::string> extras = program.remaining(true);
  const auto found = std::ranges::find_if(own, [&](std::string_view word) {
    return word.starts_with("-") && std::ranges::find(extras, word) != extras.end();
  });
  if (found == own.end()) return std::nullopt;
  const std::string whole(*found);
  const std::string option = whole.substr(0, whole.find('='));
  const auto names = option_names(app);
  const bool is_known = std::ranges::find(names, option) != names.end();
  if (app.get_parent() != nullptr && is_known) {
    return Error{
        ErrorKind::usage, fmt::format("{} is in front of the command", printable_line(option)), "",
        fmt::format("put it behind: steptune {} {}", app.get_name(), printable_line(option))};
  }
  const std::string nearest = did_you_mean(option, names);
  const bool may_be_of_command = nearest.empty() && !separated && command_argument(app) != nullptr;
  return Error{
      ErrorKind::usage, fmt::format("unknown option {}{}", printable_line(option), nearest), "",
      help_hint(program) +
          (may_be_of_command ? "; write a program's command after --, with its options" : "")};
}

Error unexpected_argument(const CLI::App& program, bool separated) {
  const CLI::App& app = chosen(program);
  const CLI::Option* command = command_argument(app);
  // CLI11 has filled the command's argument with words in front of --. So these words are the
  // unexpected ones.
  if (separated && command != nullptr && command->count() > 0) {
    return {ErrorKind::usage,
            fmt::format("unexpected argument \"{}\" in front of --",
                        printable_line(command->results().back())),
            "", "leave it out, or the command behind --"};
  }
  const std::vector<std::string> extras = program.remaining(true);
  const std::string extra = extras.empty() ? "" : extras.front();
  if (app.get_parent() == nullptr) {
    return {ErrorKind::usage,
            fmt::format("unknown command \"{}\"{}", printable_line(extra),
                        did_you_mean(extra, command_names(app))),
            "", help_hint(program)};
  }
  return {ErrorKind::usage, fmt::format("unexpected argument \"{}\"", printable_line(extra)), "",
          help_hint(program)};
}

/// Rewrites CLI11's message `--format: nope not in {text,json}`.
std::string words_of(const CLI::ParseError& error) {
  std::string text = printable_line(error.what());
  const std::string_view joint = " not in {";
  const std::size_t at = text.find(joint);
  const std::size_t colon = text.find(": ");
  if (at == std::string::npos || colon >= at || !text.ends_with('}')) return text;
  const std::string value = text.substr(colon + 2, at - colon - 2);
  std::vector<std::string> choices;
  const std::size_t begin = at + joint.size();
  for (std::size_t from = begin; from < text.size();) {
    const std::size_t end = text.find_first_of(",}", from);
    choices.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return fmt::format("{}: \"{}\" is not one of {}{}", text.substr(0, colon), value,
                     fmt::join(choices, ", "), did_you_mean(value, choices));
}

void apply_color(CommandContext& context) {
  context.console.choose_color(context.color == "always"  ? ColorChoice::always
                               : context.color == "never" ? ColorChoice::never
                                                          : ColorChoice::automatic);
}

/// Prints what is wrong with the command line.
ExitCode refuse(CommandContext& context, bool wants_json, const Error& error) {
  apply_color(context);
  if (wants_json && context.print_error_json) context.print_error_json(error);
  return context.console.error(error);
}

ExitCode parse_and_act(CLI::App& program, CommandContext& context, int argc,
                       const char* const* argv) {
  // If parsing fails, CLI11 may not have reached --json, so look for --json directly.
  const std::span own(argv, std::find(argv, argv + argc, std::string_view("--")));
  const bool wants_json = std::ranges::find(own, std::string_view("--json")) != own.end();
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    context.console.result(program.help());
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    // CLI11 takes the value of an unknown option as an argument, which may cause the error. Report
    // the unknown option instead.
    if (const auto unknown = unknown_option(program, own, context.separated)) {
      return refuse(context, wants_json, *unknown);
    }
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      return refuse(context, wants_json, unexpected_argument(program, context.separated));
    }
    return refuse(context, wants_json, {ErrorKind::usage, words_of(error), "", help_hint(program)});
  }
  apply_color(context);
  if (context.print_version) {
    context.console.result(fmt::format("steptune {}\n", build_info().version));
    return ExitCode::ok;
  }
  if (context.action) return context.action();
  context.console.result(k_short_help);
  return ExitCode::ok;
}

/// Answers a shell's request: one candidate on each line.
ExitCode complete(CommandContext& context, const std::vector<std::string>& words) {
  CLI::App program(k_program_description, "steptune");
  add_all_commands(program, context);
  std::string text;
  for (const Candidate& candidate : completions(program, words, context.database()))
    text += fmt::format("{}\t{}\n", candidate.word, candidate.description);
  context.console.result(text);
  return context.console.finish(ExitCode::ok);
}

/// Placeholder for words of a program's command while CLI11 parses.
constexpr const char* k_word_of_command = "word";

ExitCode run_words(int argc, const char* const* argv, Console& console, const Clock& clock) {
  CommandContext context{console, clock, {}, "auto", false, false, {}};
  if (argc > 1 && std::string_view(argv[1]) == k_complete_word) {
    return complete(context, {argv + 2, argv + argc});
  }
  if (argc > 2 && std::string_view(argv[1]) == k_child_word) {
    return end_with_parent(argv[2]) ? run_words(argc - 2, argv + 2, console, clock)
                                    : ExitCode::terminated;
  }
  const char* const* end = argv + argc;
  const char* const* separator = std::find(argv, end, std::string_view("--"));
  context.separated = separator != end;
  std::vector<const char*> words(argv, end);
  if (context.separated) {
    context.after_separator.assign(separator + 1, end);
    for (std::size_t i = static_cast<std::size_t>(separator - argv) + 1; i < words.size(); ++i)
      // CLI11 would split "[a,b]". After an option with several values, CLI11 also ignores the --.
      // In `judge --git main HEAD -- train --fast`, it would read --fast as an option of judge.
      if (*words[i] == '[' || *words[i] == '-') words[i] = k_word_of_command;
  }
  CLI::App program(k_program_description, "steptune");
  add_all_commands(program, context);
  return console.finish(parse_and_act(program, context, argc, words.data()));
}

}  // namespace

ExitCode run_program(int argc, const char* const* argv, Console& console, const Clock& clock) {
  try {
    return run_words(argc, argv, console, clock);
  } catch (const std::exception& fault) {
    // For example, the current folder was removed. Destructors have already ended running trials.
    return console.error({ErrorKind::internal, printable_line(fault.what()), "", ""});
  }
}

}  // namespace steptune
