// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/help_formatter.hpp"

namespace steptune {

HelpFormatter::HelpFormatter() {
  label("Positionals", "Arguments");
  column_width(24);
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = "Usage: " + name;
  if (app->get_parent() == nullptr) return usage + " COMMAND [ARGUMENTS] [OPTIONS]\n";
  for (const CLI::Option* option :
       app->get_options([](const CLI::Option* each) { return each->get_positional(); })) {
    const std::string& text = option->get_option_text();
    const std::string name_text =
        option->get_required() ? option->get_name() : "[" + option->get_name() + "]";
    usage += " " + (text.empty() ? name_text : text);
  }
  return usage + " [OPTIONS]\n";
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const std::string& text = option->get_option_text();
  return option->get_positional() || text.empty() ? "" : " " + text;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
  std::string help = make_description(app) + make_usage(app, std::move(name));
  if (!app->get_footer().empty()) help += "\nExamples:\n" + app->get_footer() + "\n";
  help += make_positionals(app);
  help += make_groups(app, mode);
  help += make_subcommands(app, mode);
  return help;
}

}  // namespace steptune
