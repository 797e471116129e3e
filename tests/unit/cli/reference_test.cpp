// SPDX-License-Identifier: Apache-2.0
// Compares docs/cli.md, the reference of the commands, with the program's own help.
#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/support/read_file.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/exit_code.hpp"

namespace steptune {
namespace {

using testing::ContainerEq;
using testing::HasSubstr;

/// An option as a row describes it, without its meaning.
struct OptionRow {
  std::string value;          ///< name of its value; empty: a flag
  std::string plain_default;  ///< without marks

  bool operator==(const OptionRow&) const = default;
  friend void PrintTo(const OptionRow& row, std::ostream* out) {
    *out << "value \"" << row.value << "\", default \"" << row.plain_default << "\"";
  }
};

/// Options by long name. `as there`: the chapter of another command describes it.
using OptionTable = std::map<std::string, OptionRow>;

constexpr const char* k_as_there = "as there";

std::string without_marks(std::string text) {
  std::erase_if(text, [](char c) { return c == '`' || c == '"'; });
  return text;
}

/// Returns the cells of a row of a Markdown table; `\|` does not separate cells.
std::vector<std::string> cells_of(const std::string& line) {
  static const std::regex k_blanks("^ +| +$");
  std::vector<std::string> cells{""};
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '|' && line[i - 1] != '\\') {
      cells.emplace_back();
    } else if (line[i] != '\\') {
      cells.back() += line[i];
    }
  }
  for (std::string& cell : cells)
    cell = std::regex_replace(cell, k_blanks, "");
  return cells;
}

/// Returns the text below a heading, up to the next heading of the same or a higher level; empty if
/// there is no such heading.
std::string chapter_of(const std::string& text, const std::string& heading) {
  const std::size_t begin = text.find("\n" + heading + "\n");
  if (begin == std::string::npos) return "";
  static const std::regex k_heading("\n#{1,3} ");
  const auto from = text.begin() + static_cast<std::ptrdiff_t>(begin + heading.size() + 1);
  std::smatch next;
  const bool found = std::regex_search(from, text.end(), next, k_heading);
  return {from, found ? from + next.position() : text.end()};
}

OptionTable known_options(const std::string& chapter) {
  static const std::regex k_option("`--([a-z-]+)(?: ([^`]+))?`");
  OptionTable table;
  std::istringstream lines(chapter);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `--")) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 3) continue;
    for (std::sregex_iterator match(cells[0].begin(), cells[0].end(), k_option), end; match != end;
         ++match)
      table[(*match)[1]] = {(*match)[2], without_marks(cells[2])};
  }
  return table;
}

/// Adds the options in the help, except for those that all commands have.
void add_options(const CLI::App& app, OptionTable& table) {
  static const std::regex k_default(R"(\[default: (.*)\]$)");
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    if (name == "help" || name == "db" || name == "color" || name == "json") continue;
    const bool is_flag = option->get_items_expected_max() == 0;
    std::smatch match;
    const std::string& help = option->get_description();
    const bool has_default = std::regex_search(help, match, k_default);
    table[name] = {option->get_option_text(), is_flag       ? "off"
                                              : has_default ? without_marks(match[1])
                                                            : "required"};
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    add_options(*command, table);
}

class Reference : public testing::Test {
 protected:
  Reference()
      : console_(process_environment()), context_{console_, clock_, {}, "auto", false, false, {}} {
    add_all_commands(program_, context_);
  }

  [[nodiscard]] std::vector<const CLI::App*> commands() const {
    return program_.get_subcommands([](const CLI::App*) { return true; });
  }

  std::string text_ = read_file(STEPTUNE_SOURCE_DIR "/docs/cli.md");
  Console console_;
  SystemClock clock_;
  CommandContext context_;
  CLI::App program_{"Steptune", "steptune"};
};

TEST_F(Reference, ListsExactlyTheOptionsAndDefaults) {
  for (const CLI::App* command : commands()) {
    const std::string chapter = chapter_of(text_, "### " + command->get_name());
    ASSERT_NE(chapter, "") << command->get_name();
    EXPECT_THAT(chapter, HasSubstr("\nsteptune " + command->get_name())) << "its synopsis";
    OptionTable documented = known_options(chapter);
    OptionTable there;
    add_options(*command, there);
    for (auto& [name, row] : documented)
      if (row.plain_default == k_as_there && there.contains(name)) row = there[name];
    EXPECT_THAT(documented, ContainerEq(there)) << command->get_name();
  }
}

TEST_F(Reference, ListsTheCommonOptions) {
  const OptionTable documented = known_options(chapter_of(text_, "## Common options"));
  for (const char* name : {"db", "color", "json"})
    EXPECT_TRUE(documented.contains(name)) << name;
}

TEST_F(Reference, ListsEveryCommand) {
  const std::string overview = chapter_of(text_, "## Overview");
  for (const CLI::App* command : commands())
    EXPECT_THAT(overview, HasSubstr(fmt::format("[`{0}`](#{0})", command->get_name())));
}

TEST_F(Reference, TheSchemaDefinesTheDocumentOfEachCommand) {
  EXPECT_THAT(chapter_of(text_, "## JSON"), HasSubstr("`configs/output.schema.json`"));
  const Json schema =
      Json::parse(read_file(STEPTUNE_SOURCE_DIR "/configs/output.schema.json"), nullptr, false);
  for (const CLI::App* command : commands()) {
    const bool has_document = command->get_option_no_throw("--json") != nullptr;
    EXPECT_EQ(schema["$defs"].contains(command->get_name()), has_document) << command->get_name();
  }
}

TEST_F(Reference, ListsEveryExitCode) {
  const std::string codes = chapter_of(text_, "## Exit codes");
  for (const ExitCode code :
       {ExitCode::ok, ExitCode::failure, ExitCode::usage, ExitCode::no_feasible, ExitCode::history,
        ExitCode::runner, ExitCode::promise_broken, ExitCode::night_improved,
        ExitCode::night_regressed, ExitCode::night_failed, ExitCode::interrupted,
        ExitCode::terminated})
    EXPECT_THAT(codes, HasSubstr(fmt::format("\n| {} | ", static_cast<int>(code))));
}

}  // namespace
}  // namespace steptune
