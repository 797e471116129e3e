// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"
#include "tuner/study/sections.hpp"
#include "tuner/study/study_scope.hpp"

namespace steptune::study {
namespace {

using document::StringTemplate;
using document::Writing;

/// Reads arguments. An empty list is a fault.
Type<std::vector<StringTemplate>> arguments() {
  auto type = document::list_of(template_with_files(), k_max_elements);
  type.read = [read = type.read](const Node& node) {
    if (node.json().is_array() && node.json().empty()) {
      node.fault("the list is empty: name the arguments, or remove the part");
    }
    return read(node);
  };
  return with_schema_members(std::move(type), Json{{"minItems", 1}});
}

const Section<CommandPart>& part_section() {
  static const auto k_section =
      Section<CommandPart>("command_part",
                           "Arguments that are present together or not at all: left out if the "
                           "condition is false or a parameter that they mention is inactive.",
                           "a string, or an object such as {\"when\": \"amp\", \"args\": "
                           "[\"--amp\"]}")
          .add(key("when", &CommandPart::when, document::formula())
                   .doc("condition for the arguments to be present"))
          .add(key("args", &CommandPart::args, arguments()).required().doc("arguments, templates"));
  return k_section;
}

bool mentions_conditional(const StringTemplate& rule, const Node& node) {
  const StudyScope& scope = scope_of(node);
  return std::ranges::any_of(rule.parameters(), [&](const std::string& name) {
    return scope.find(name)->when.has_value();
  });
}

/// Checks an argument that is left out if its parameter is inactive. The argument must stand alone:
/// otherwise the option before it would take the next argument as its value.
void check_stands_alone(const std::vector<Node>& elements, std::size_t i,
                        const StringTemplate& rule) {
  if (!mentions_conditional(rule, elements[i])) return;
  const std::string_view prefix = rule.prefix();
  if (prefix.starts_with('-')) return;
  const Json& before = elements[i - 1].json();
  const auto option = before.is_string() ? before.get<std::string>() : std::string();
  const bool follows_option = option.starts_with('-') && option != "--" && option != "-" &&
                              option.find('=') == std::string::npos;
  if (prefix.find('=') != std::string_view::npos && !follows_option) return;
  const Json alone = {{"args", {rule.text()}}};
  const Json together = {{"args", {option, rule.text()}}};
  elements[i].fault(fmt::format(
      "its parameter has a condition; if that is false, {}; write {}{}",
      follows_option ? fmt::format("\"{}\" would stay without a value", printable_line(option, 60))
                     : "the arguments after it would move up",
      follows_option ? dump_json(together) + " to keep the two together, or " : "",
      dump_json(alone) + " to leave out this one alone"));
}

/// Reads an element of the command: an object, or a string for a single argument.
std::optional<CommandPart> read_part(const Node& node) {
  if (!node.json().is_string()) return document::object(part_section()).read(node);
  auto rule = template_with_files().read(node);
  if (!rule) return std::nullopt;
  return CommandPart{{}, {*std::move(rule)}};
}

void read_command(const Node& node, StudySpec& study) {
  const auto elements = node.elements(k_max_elements);
  if (node.json().is_array() && node.json().empty()) {
    node.fault("the list is empty: name the training program and its arguments");
  }
  if (!elements.empty() && elements.front().json().is_object()) {
    elements.front().fault("the program itself must be a string: it is always present");
  } else if (!elements.empty() && elements.front().json() == Json("")) {
    elements.front().fault("the program's name is empty");
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    auto part = read_part(elements[i]);
    if (!part) continue;
    const bool lone = elements[i].json().is_string();
    if (lone && i > 0) {
      check_stands_alone(elements, i, part->args.front());
    } else if (lone && mentions_conditional(part->args.front(), node)) {
      elements[i].fault("the program itself must not depend on a parameter with a condition");
    }
    study.command.push_back(*std::move(part));
  }
}

Json write_part(const CommandPart& part, const SearchSpace& space, const Writing& writing) {
  const bool plain = !part.when && part.args.size() == 1 &&
                     std::ranges::none_of(part.args.front().parameters(), [&](const auto& name) {
                       return space.find(name)->when.has_value();
                     });
  return plain ? Json(part.args.front().text()) : part_section().write(part, writing);
}

std::optional<Json> write_command(const StudySpec& study, const Writing& writing) {
  if (study.command.empty()) return std::nullopt;
  Json json = Json::array();
  for (const CommandPart& part : study.command)
    json.push_back(write_part(part, study.space, writing));
  return json;
}

Json command_schema(Json& definitions) {
  return {{"type", "array"},
          {"minItems", 1},
          {"maxItems", k_max_elements},
          {"items", {{"anyOf", {{{"type", "string"}}, part_section().schema(definitions)}}}}};
}

std::map<std::string, StringTemplate> read_environment(const Node& node) {
  std::map<std::string, StringTemplate> variables;
  for (const auto& [name, child] : node.members("an object of variables", k_max_elements)) {
    if (!document::is_identifier(name)) {
      child.fault(
          fmt::format("\"{}\" is not the name of an environment variable: use letters, digits "
                      "and _, not starting with a digit",
                      printable_line(name, 60)));
    } else if (const auto reason = denied_variable(name)) {
      child.fault(*reason);
    } else if (auto rule = template_with_files().read(child)) {
      variables.insert_or_assign(name, *std::move(rule));
    }
  }
  return variables;
}

// LD_PRELOAD and LD_LIBRARY_PATH are not refused, because people select allocators and math
// libraries with them.
constexpr std::array<std::string_view, 12> k_hijacking = {
    "LD_AUDIT",      "GCONV_PATH",    "BASH_ENV", "ENV",     "SHELLOPTS",      "IFS",
    "PYTHONSTARTUP", "PYTHONINSPECT", "PERL5OPT", "RUBYOPT", "PROMPT_COMMAND", "LD_DEBUG_OUTPUT"};
constexpr std::array<std::string_view, 9> k_secret_endings = {
    "TOKEN",   "SECRET",     "PASSWORD",   "PASSWD",     "PASSPHRASE",
    "API_KEY", "ACCESS_KEY", "SECRET_KEY", "PRIVATE_KEY"};

bool looks_secret(std::string_view name) {
  return std::ranges::any_of(k_secret_endings, [&](auto ending) {
    return name.ends_with(ending) &&
           (name.size() == ending.size() || name[name.size() - ending.size() - 1] == '_');
  });
}

}  // namespace

Key<StudySpec> command_key() {
  return {"command", read_command, write_command, command_schema};
}

Type<std::map<std::string, StringTemplate>> environment() {
  auto type = document::map_of(template_with_files(), "", k_max_elements);
  type.read = [](const Node& node) { return std::optional(read_environment(node)); };
  return with_schema_members(
      std::move(type), Json{{"propertyNames", {{"pattern", document::k_identifier_pattern}}}});
}

std::optional<std::string> denied_variable(std::string_view name) {
  if (name == "PATH") {
    return "PATH cannot be set by a study: give the program's absolute path in \"command\", or "
           "set PATH in the shell that starts steptune";
  }
  if (name.starts_with("STEPTUNE_")) {
    return fmt::format("{} cannot be set by a study: names beginning with STEPTUNE_ are reserved",
                       name);
  }
  if (std::find(k_hijacking.begin(), k_hijacking.end(), name) != k_hijacking.end()) {
    return fmt::format(
        "{} cannot be set by a study: it makes programs run code that the command "
        "does not name; if it is needed, set it in the shell that starts steptune",
        name);
  }
  if (looks_secret(name)) {
    return fmt::format(
        "{} looks like a secret, and a study is stored with its history: set it in "
        "the shell that starts steptune, trials inherit it",
        name);
  }
  return std::nullopt;
}

}  // namespace steptune::study
