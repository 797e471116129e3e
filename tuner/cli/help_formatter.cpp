// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/help_formatter.hpp"

#include <fmt/format.h>

namespace steptune {

HelpFormatter::HelpFormatter() {
  label("Positionals", "Arguments");
  column_width(24);
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  if (app->get_parent() == nullptr) return "Usage: " + name + " COMMAND [ARGUMENTS] [OPTIONS]\n";
  std::string arguments;
  std::string required;
  for (const CLI::Option* option : app->get_options()) {
    const std::string& text = option->get_option_text();
    if (!option->get_positional()) {
      if (option->get_required()) required += fmt::format(" {} {}", option->get_name(), text);
    } else if (!text.empty()) {
      arguments += " " + text;
    } else {
      arguments += " " + (option->get_required() ? option->get_name()
                                                 : fmt::format("[{}]", option->get_name()));
    }
  }
  // Show [OPTIONS] before "--", because the words after it belong to the training command.
  const std::string options = required + " [OPTIONS]";
  const bool takes_command = arguments.find("-- ") != std::string::npos;
  return "Usage: " + name + (takes_command ? options + arguments : arguments + options) + "\n";
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const std::string& text = option->get_option_text();
  return option->get_positional() || text.empty() ? "" : " " + text;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string help = make_description(app) + make_usage(app, std::move(name));
  if (!app->get_footer().empty()) help += "\nExamples:\n" + app->get_footer() + "\n";
  help += make_positionals(app);
  help += make_groups(app, mode);
  help += make_subcommands(app, mode);
  return help;
}

}  // namespace steptune
