// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/man_page.hpp"

#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "tuner/cli/help_formatter.hpp"

namespace steptune {
namespace {

/// Escapes text for troff. Hyphens stay ASCII, so that commands can be copied.
std::string escaped(std::string_view text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    line_begins = c == '\n';
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

std::string section(std::string_view title, std::string_view body) {
  return body.empty() ? std::string() : fmt::format(".SH {}\n{}\n", title, body);
}

std::string words_between(const CLI::App& app, const char* separator) {
  const CLI::App* parent = app.get_parent();
  const std::string before =
      parent == nullptr ? std::string() : words_between(*parent, separator) + separator;
  return before + app.get_name();
}

std::string synopsis(const CLI::App& app) {
  constexpr std::string_view k_label = "Usage: ";
  std::string usage = HelpFormatter().make_usage(&app, words_between(app, " "));
  usage.erase(0, k_label.size());
  usage.pop_back();
  return escaped(usage);
}

/// Returns the names of an option and its value: `-h, --help`, `--limit N`.
std::string option_heading(const CLI::Option& option) {
  std::string names;
  if (option.get_positional()) return fmt::format("\\fI{}\\fR", escaped(option.get_name()));
  for (const std::string& name : option.get_snames())
    names += fmt::format("{}\\fB\\-{}\\fR", names.empty() ? "" : ", ", escaped(name));
  for (const std::string& name : option.get_lnames())
    names += fmt::format("{}\\fB\\-\\-{}\\fR", names.empty() ? "" : ", ", escaped(name));
  const std::string& taken = option.get_option_text();
  return taken.empty() ? names : fmt::format("{} \\fI{}\\fR", names, escaped(taken));
}

std::string option_list(const CLI::App& app, bool positional) {
  std::string list;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() != positional || option->get_group().empty()) continue;
    list +=
        fmt::format(".TP\n{}\n{}\n", option_heading(*option), escaped(option->get_description()));
  }
  return list;
}

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

std::string command_list(const CLI::App& app) {
  std::string list;
  for (const CLI::App* command : shown_commands(app)) {
    list += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", escaped(words_between(*command, "-")),
                        escaped(command->get_description()));
  }
  return list;
}

std::string page_text(const CLI::App& app, const std::string& version) {
  const std::string name = words_between(app, "-");
  std::string title = name;
  for (char& c : title)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const CLI::App* parent = app.get_parent();
  std::string text = fmt::format(".TH \"{}\" 1 \"\" \"steptune {}\" \"Steptune\"\n", escaped(title),
                                 escaped(version));
  text += section("NAME", fmt::format("{} \\- {}", escaped(name), escaped(app.get_description())));
  text += section("SYNOPSIS", synopsis(app));
  if (!app.get_footer().empty()) {
    text += section("EXAMPLES", fmt::format(".nf\n{}\n.fi", escaped(app.get_footer())));
  }
  text += section("ARGUMENTS", option_list(app, true));
  text += section("OPTIONS", option_list(app, false));
  text += section("COMMANDS", command_list(app));
  if (parent != nullptr) {
    text += section("SEE ALSO", fmt::format("\\fB{}\\fR(1)", escaped(words_between(*parent, "-"))));
  }
  return text;
}

void add_pages(const CLI::App& app, const std::string& version, std::vector<ManPage>& pages) {
  pages.push_back({words_between(app, "-"), page_text(app, version)});
  for (const CLI::App* command : shown_commands(app))
    add_pages(*command, version, pages);
}

}  // namespace

std::vector<ManPage> man_pages(const CLI::App& program, const std::string& version) {
  std::vector<ManPage> pages;
  add_pages(program, version, pages);
  return pages;
}

}  // namespace steptune
