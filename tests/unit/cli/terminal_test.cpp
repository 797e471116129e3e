// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/terminal.hpp"

#include <map>

#include <gtest/gtest.h>

#include "tuner/cli/redrawn_text.hpp"

namespace steptune {
namespace {

Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

struct ColorCase {
  const char* what;
  ColorChoice choice;
  bool is_terminal;
  std::map<std::string, std::string> variables;
  bool expected;
};

TEST(Color, FollowsTheDocumentedPrecedence) {
  const std::map<std::string, std::string> xterm{{"TERM", "xterm"}};
  const ColorCase cases[] = {
      {"a terminal has colours", ColorChoice::automatic, true, xterm, true},
      {"a pipe has none", ColorChoice::automatic, false, xterm, false},
      {"a dumb terminal has none", ColorChoice::automatic, true, {{"TERM", "dumb"}}, false},
      {"no TERM, no colours", ColorChoice::automatic, true, {}, false},
      {"--color always beats a pipe", ColorChoice::always, false, {}, true},
      {"--color always beats NO_COLOR", ColorChoice::always, false, {{"NO_COLOR", "1"}}, true},
      {"--color never beats FORCE_COLOR", ColorChoice::never, true, {{"FORCE_COLOR", "1"}}, false},
      {"NO_COLOR beats the terminal",
       ColorChoice::automatic,
       true,
       {{"TERM", "xterm"}, {"NO_COLOR", "1"}},
       false},
      {"an empty NO_COLOR says nothing",
       ColorChoice::automatic,
       true,
       {{"TERM", "xterm"}, {"NO_COLOR", ""}},
       true},
      {"NO_COLOR beats FORCE_COLOR",
       ColorChoice::automatic,
       false,
       {{"NO_COLOR", "1"}, {"FORCE_COLOR", "1"}},
       false},
      {"FORCE_COLOR beats the pipe", ColorChoice::automatic, false, {{"FORCE_COLOR", "1"}}, true},
      {"CLICOLOR_FORCE beats the pipe",
       ColorChoice::automatic,
       false,
       {{"CLICOLOR_FORCE", "1"}},
       true},
      {"FORCE_COLOR=0 says nothing", ColorChoice::automatic, false, {{"FORCE_COLOR", "0"}}, false},
      {"an empty CLICOLOR_FORCE says nothing",
       ColorChoice::automatic,
       false,
       {{"CLICOLOR_FORCE", ""}},
       false},
  };
  for (const ColorCase& each : cases) {
    EXPECT_EQ(decide_color(each.choice, each.is_terminal, environment_of(each.variables)),
              each.expected)
        << each.what;
  }
}

TEST(Terminal, AnInvalidDescriptorIsNoTerminal) {
  EXPECT_FALSE(is_smart_terminal(-1, environment_of({{"TERM", "xterm"}})));
  EXPECT_EQ(terminal_width(-1), 0U);
}

TEST(FirstLines, SayHowManyAreLeftOut) {
  EXPECT_EQ(first_lines("a\nb\nc\n", 0, 80), "a\nb\nc\n");
  EXPECT_EQ(first_lines("a\nb\nc\n", 3, 80), "a\nb\nc\n");
  EXPECT_EQ(first_lines("a\nb\nc\n", 2, 80), "a\n(2 more lines)\n");
  EXPECT_EQ(first_lines("a\nb\nc\n", 1, 80), "(3 more lines)\n");
  EXPECT_EQ(first_lines("", 5, 80), "");
}

TEST(FirstLines, CountTheRowsOfLongLines) {
  EXPECT_EQ(first_lines("a\n123456789\nc\n", 5, 4), "a\n123456789\nc\n");
  EXPECT_EQ(first_lines("a\n123456789\nc\n", 4, 4), "a\n(2 more lines)\n");
  EXPECT_EQ(first_lines("a\n123456789\nc\n", 3, 0), "a\n123456789\nc\n");
}

}  // namespace
}  // namespace steptune
