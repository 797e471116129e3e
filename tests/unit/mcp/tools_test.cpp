// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/tools.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/read_file.hpp"

namespace steptune::mcp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Tools, TheListHasSchemasAndAnnotations) {
  const Json list = tools_json();
  std::vector<std::string> names;
  for (const Json& tool : list["tools"]) {
    const auto name = tool["name"].get<std::string>();
    names.push_back(name);
    EXPECT_GT(tool["description"].get<std::string>().size(), 60U) << name;
    EXPECT_EQ(tool["inputSchema"]["type"], "object") << name;
    EXPECT_EQ(tool["inputSchema"]["additionalProperties"], false) << name;
    for (const auto& [argument, schema] : tool["inputSchema"]["properties"].items())
      EXPECT_GT(schema["description"].get<std::string>().size(), 9U) << name << " " << argument;
    EXPECT_TRUE(tool["annotations"]["readOnlyHint"].is_boolean()) << name;
    EXPECT_EQ(find_tool(name)->name, name);
  }
  EXPECT_THAT(names, ElementsAre("survey", "tune", "judge", "status", "explain", "stop"));
  EXPECT_LT(list.dump().size(), 8000U) << "an agent reads the whole list";
  EXPECT_EQ(find_tool("shell"), nullptr);
  EXPECT_EQ(list["tools"][0]["inputSchema"]["required"], Json::array({"command"}));
  EXPECT_EQ(list["tools"][3]["annotations"]["readOnlyHint"], true);
  EXPECT_EQ(list["tools"][1]["annotations"]["readOnlyHint"], false);
}

/// Returns why the arguments do not fit the tool; empty if they fit.
std::string fault_of(const char* tool, const char* arguments) {
  const auto checked = check_arguments(*find_tool(tool), Json::parse(arguments));
  return checked ? "" : checked.error().message;
}

TEST(Tools, ArgumentsThatFitAreAccepted) {
  EXPECT_EQ(fault_of("survey", R"({"command": ["python3", "train.py", ""], "safe": true})"), "");
  EXPECT_EQ(fault_of("judge", R"({"commands": [["a"], ["b", "c"]], "margin": "3%"})"), "");
  EXPECT_EQ(fault_of("explain", R"({"about": "trial", "trial": 7})"), "");
  EXPECT_EQ(fault_of("stop", "{}"), "");
}

TEST(Tools, ArgumentsThatDoNotFitAreNamed) {
  struct Case {
    const char* tool;
    const char* arguments;
    const char* why;
  };
  for (const auto& [tool, arguments, why] : {
           Case{"survey", "{}", "\"command\" is missing"},
           Case{"survey", "[]", "not an object"},
           Case{"survey", R"({"command": "python3 train.py"})", "a list of texts"},
           Case{"survey", R"({"command": []})", "a list of texts"},
           Case{"survey", R"({"command": ["a\u0000b"]})", "a list of texts"},
           Case{"survey", R"({"command": ["a"], "comand": ["b"]})", "did you mean \"command\"?"},
           Case{"survey", R"({"command": ["a"], "safe": "yes"})", "true or false"},
           Case{"judge", R"({"commands": [["a"], []]})", "a list of commands"},
           Case{"judge", R"({"commands": ["a", "b"]})", "a list of commands"},
           Case{"tune", R"({"time": 60})", "\"time\" must be a text"},
           Case{"tune", R"({"trials": 0})", "a whole number"},
           Case{"tune", R"({"trials": 1.5})", "a whole number"},
           Case{"tune", R"({"study": ""})", "\"study\" must be a text"},
           Case{"explain", R"({"about": "log"})", "one of bottleneck, importance, trial, output"},
           Case{"explain", R"({"about": 1})", "one of bottleneck"},
       }) {
    EXPECT_THAT(fault_of(tool, arguments), HasSubstr(why)) << tool << " " << arguments;
  }
}

TEST(Tools, AllAreInTheDocuments) {
  for (const char* file : {"docs/mcp.md", "configs/skills/steptune/SKILL.md"}) {
    const std::string text = read_file(std::filesystem::path(STEPTUNE_SOURCE_DIR) / file);
    for (const Tool& tool : all_tools()) {
      if (tool.id == ToolName::stop && file != std::string("docs/mcp.md")) continue;
      EXPECT_THAT(text, HasSubstr("| `" + tool.name + "`")) << file;
    }
  }
}

}  // namespace
}  // namespace steptune::mcp
