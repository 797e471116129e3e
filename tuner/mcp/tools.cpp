// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/tools.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"

namespace steptune::mcp {
namespace {

const ToolArgument k_folder{
    "folder", ArgumentType::text,
    "Working folder, absolute or relative to the server's first folder. Default: that folder."};
const ToolArgument k_command{
    "command", ArgumentType::texts,
    "The training command as a list of words, run without a shell: [\"python3\", \"train.py\"]. "
    "For a shell: [\"sh\", \"-c\", \"...\"]."};

ToolArgument time_argument(const std::string& usual) {
  return {"time", ArgumentType::text, "Longest time, such as 90s, 10m or 1h. " + usual};
}

std::vector<Tool> make_tools() {
  ToolArgument needed_command = k_command;
  needed_command.required = true;
  return {
      {ToolName::survey,
       "survey",
       "Survey a program",
       "Says what a training program is and which of its settings can be tuned. Runs the program "
       "for some seconds and writes a study file, NAME.study.json, into the folder. Call it before "
       "tune if you do not know the program. Edit the study file to change what tune varies.",
       {needed_command,
        k_folder,
        {"name", ArgumentType::text, "Name of the study. Default: after the script."},
        {"safe", ArgumentType::flag,
         "Leave out settings that may change the loss: precision, TF32, compilation."}},
       false,
       true,
       true},
      {ToolName::tune,
       "tune",
       "Tune a program",
       "Finds the settings with which a training program runs fastest: measures today's settings, "
       "tries others, and confirms the best in fresh runs. Takes minutes. Give a command, or the "
       "study file that survey wrote. The result says whether anything is faster, by how much with "
       "its 95 % interval, and what to change. A repeated call continues the study. To compare two "
       "versions of the code, use judge.",
       {k_command,
        {"study", ArgumentType::text, "Study file, in place of a command."},
        k_folder,
        time_argument("Default: 10m for a command, the study file's budget otherwise."),
        {"trials", ArgumentType::count, "Most trials."},
        {"name", ArgumentType::text, "With a command: name of the study."},
        {"safe", ArgumentType::flag,
         "With a command: leave out settings that may change the loss."}},
       false,
       false,
       true},
      {ToolName::judge,
       "judge",
       "Judge which command is faster",
       "Decides whether a change made a training program faster: faster, slower, tied, worse (its "
       "loss), undecided or failed. Runs two to eight commands in turns, in fresh processes, until "
       "the verdict is "
       "clear or the time is over. Use it after each edit instead of comparing single runs, "
       "which differ by several percent. Either give commands, or one command and git revisions. "
       "Uncommitted changes have no revision.",
       {{"commands", ArgumentType::commands,
         "Two to eight commands, each a list of words. All others are compared with the first one, "
         "A."},
        k_command,
        {"revisions", ArgumentType::texts,
         "With command: two to eight git revisions in which it runs, such as [\"main\", "
         "\"HEAD\"]. The first one is A."},
        {"build", ArgumentType::text,
         "With revisions: shell command that builds the program in each working tree."},
        {"campaign", ArgumentType::text,
         "For a series of edits: a name for all of them, so that on average at most one kept edit "
         "in twenty is no improvement. Give two versions: the best so far (A), then the edit."},
        k_folder,
        time_argument("Default: 5m."),
        {"margin", ArgumentType::text,
         "Largest difference that counts as a tie, such as 2%. Default: 2%."}},
       false,
       false,
       true},
      {ToolName::status,
       "status",
       "Status of calls and studies",
       "Lists the call that runs now and the studies of a folder, the latest first. With study: "
       "its best trials. With campaign: its edits, the best version so far, and the gain.",
       {{"study", ArgumentType::text, "Name of a study."},
        {"campaign", ArgumentType::text, "Name of a campaign."},
        k_folder,
        {"limit", ArgumentType::count, "With study: most rows. Default: 5."}},
       true,
       true,
       false},
      {ToolName::explain,
       "explain",
       "Explain a result",
       "Details of a study: what the steps wait for (bottleneck), which settings mattered "
       "(importance), all about one trial (trial), or the end of a trial's output (output), for "
       "example after a failure.",
       {{"about",
         ArgumentType::choice,
         "The details.",
         {"bottleneck", "importance", "trial", "output"},
         true},
        {"study", ArgumentType::text, "Name of the study. Default: the latest."},
        {"trial", ArgumentType::count,
         "Number of the trial. Needed for trial and output; 1 is today's settings."},
        k_folder},
       true,
       true,
       false},
      {ToolName::stop,
       "stop",
       "Stop the running call",
       "Asks the running survey, tune or judge to end. Trials that were measured are kept. Its own "
       "call then returns.",
       {},
       false,
       true,
       false},
  };
}

Json schema_of(const ToolArgument& argument) {
  const Json word{{"type", "string"}};
  const Json words{{"type", "array"}, {"items", word}, {"minItems", 1}};
  Json schema;
  switch (argument.type) {
    case ArgumentType::text:
      schema = word;
      break;
    case ArgumentType::flag:
      schema = {{"type", "boolean"}};
      break;
    case ArgumentType::count:
      schema = {{"type", "integer"}, {"minimum", 1}};
      break;
    case ArgumentType::texts:
      schema = words;
      break;
    case ArgumentType::commands:
      schema = {{"type", "array"}, {"items", words}, {"minItems", 2}, {"maxItems", 8}};
      break;
    case ArgumentType::choice:
      schema = {{"type", "string"}, {"enum", argument.choices}};
      break;
  }
  schema["description"] = argument.description;
  return schema;
}

Json tool_json(const Tool& tool) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const ToolArgument& argument : tool.arguments) {
    properties[argument.name] = schema_of(argument);
    if (argument.required) required.push_back(argument.name);
  }
  Json schema{{"type", "object"}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema", schema},
          {"annotations",
           {{"title", tool.title},
            {"readOnlyHint", tool.read_only},
            {"destructiveHint", false},
            {"idempotentHint", tool.idempotent},
            {"openWorldHint", tool.measures}}}};
}

/// True if a program can get the value as an argument of its command line.
bool is_word(const Json& value) {
  return value.is_string() && value.get_ref<const std::string&>().find('\0') == std::string::npos;
}

bool are_words(const Json& value) {
  return value.is_array() && !value.empty() && std::ranges::all_of(value, is_word);
}

/// Returns a description of valid values; empty if `value` is valid.
std::string expected(const ToolArgument& argument, const Json& value) {
  switch (argument.type) {
    case ArgumentType::text:
      return is_word(value) && !value.get_ref<const std::string&>().empty() ? "" : "a text";
    case ArgumentType::flag:
      return value.is_boolean() ? "" : "true or false";
    case ArgumentType::count:
      return value.is_number_integer() && value >= 1 && value <= 1'000'000
                 ? ""
                 : "a whole number from 1 to 1000000";
    case ArgumentType::texts:
      return are_words(value) ? "" : "a list of texts, such as [\"python3\", \"train.py\"]";
    case ArgumentType::commands:
      return value.is_array() && std::ranges::all_of(value, are_words)
                 ? ""
                 : "a list of commands, each of which is a list of words";
    case ArgumentType::choice:
      break;
  }
  const bool is_choice =
      value.is_string() &&
      std::ranges::find(argument.choices, value.get<std::string>()) != argument.choices.end();
  return is_choice ? "" : fmt::format("one of {}", fmt::join(argument.choices, ", "));
}

}  // namespace

const std::vector<Tool>& all_tools() {
  static const std::vector<Tool> k_tools = make_tools();
  return k_tools;
}

const Tool* find_tool(std::string_view name) {
  const auto found = std::ranges::find(all_tools(), name, &Tool::name);
  return found == all_tools().end() ? nullptr : &*found;
}

Json tools_json() {
  Json tools = Json::array();
  for (const Tool& tool : all_tools())
    tools.push_back(tool_json(tool));
  return {{"tools", tools}};
}

Result<void> check_arguments(const Tool& tool, const Json& arguments) {
  if (!arguments.is_object()) return fail(ErrorKind::usage, "the arguments are not an object");
  std::vector<std::string> names;
  for (const ToolArgument& argument : tool.arguments) {
    names.push_back(argument.name);
    const auto value = arguments.find(argument.name);
    if (value == arguments.end()) {
      if (!argument.required) continue;
      return fail(ErrorKind::usage, fmt::format("the argument \"{}\" is missing", argument.name));
    }
    if (const std::string wanted = expected(argument, *value); !wanted.empty()) {
      return fail(ErrorKind::usage,
                  fmt::format("the argument \"{}\" must be {}", argument.name, wanted));
    }
  }
  for (const auto& [name, value] : arguments.items()) {
    if (std::ranges::find(names, name) != names.end()) continue;
    return fail(ErrorKind::usage, fmt::format("unknown argument \"{}\"{}", printable_line(name, 60),
                                              did_you_mean(name, names)));
  }
  return {};
}

}  // namespace steptune::mcp
