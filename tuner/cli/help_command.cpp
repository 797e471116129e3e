// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"

namespace steptune {
namespace {

/// Returns the program's help even if one of its commands was chosen.
std::string program_help(const CLI::App& program) {
  return program.get_formatter()->make_help(&program, program.get_name(),
                                            CLI::AppFormatMode::Normal);
}

ExitCode print_help(CommandContext& context, const CLI::App& program, const std::string& name) {
  if (name.empty()) {
    context.console.result(program_help(program));
    return ExitCode::ok;
  }
  const auto commands = program.get_subcommands([](const CLI::App*) { return true; });
  const auto named = std::ranges::find(commands, name, &CLI::App::get_name);
  if (named != commands.end()) {
    context.console.result((*named)->help(program.get_name()));
    return ExitCode::ok;
  }
  std::vector<std::string> names;
  for (const CLI::App* command : commands)
    names.push_back(command->get_name());
  return context.console.error(
      {ErrorKind::usage,
       fmt::format("unknown command \"{}\"{}", printable_line(name), did_you_mean(name, names)), "",
       "see 'steptune help'"});
}

}  // namespace

void add_help_command(CLI::App& program, CommandContext& context) {
  auto [command, name] = add_command<std::string>(
      program, context, "help", "Explain a command, or list all of them",
      "  steptune help\n"
      "  steptune help run                the same as 'steptune run --help'",
      [&program](CommandContext& within, const std::string& given) {
        return print_help(within, program, given);
      });
  command->add_option("COMMAND", *name, "Command to explain [default: none, all are listed]");
}

}  // namespace steptune
