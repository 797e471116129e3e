// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"

namespace steptune::mcp {

enum class ToolName { survey, tune, judge, status, explain, stop };

enum class ArgumentType {
  text,
  flag,
  count,     ///< a whole number from 1 on
  texts,     ///< a list of texts
  commands,  ///< a list of commands, each of which is a list of words
  choice,    ///< one of `ToolArgument::choices`
};

struct ToolArgument {
  std::string name;
  ArgumentType type = ArgumentType::text;
  std::string description;
  std::vector<std::string> choices = {};  ///< for `choice`
  bool required = false;
};

/// Description of a tool for agents.
struct Tool {
  ToolName id = ToolName::status;
  std::string name;
  std::string title;
  std::string description;
  std::vector<ToolArgument> arguments;
  bool read_only = false;   ///< starts no program of the user and writes no file
  bool idempotent = false;  ///< repeating a call has no further effect
  bool measures = false;    ///< starts the user's program; only one such call runs at a time
};

[[nodiscard]] const std::vector<Tool>& all_tools();
/// Returns the tool of that name; null if there is none.
[[nodiscard]] const Tool* find_tool(std::string_view name);

/// Returns the result of `tools/list`.
[[nodiscard]] Json tools_json();

/// Checks arguments against the tool's schema. The error names the argument, and the nearest name
/// if it is unknown.
[[nodiscard]] Result<void> check_arguments(const Tool& tool, const Json& arguments);

}  // namespace steptune::mcp
