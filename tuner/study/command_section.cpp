// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/command_section.hpp"

#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/study/environment_names.hpp"
#include "tuner/study/identifiers.hpp"
#include "tuner/study/study_keys.hpp"
#include "tuner/study/text_template.hpp"

namespace steptune::study {
namespace {

constexpr std::size_t k_max_parts = 1000;
constexpr std::size_t k_max_variables = 200;
/// Linux refuses a single argument of 128 KiB; a placeholder may add a long choice.
constexpr std::size_t k_max_argument_bytes = 65'536;

CommandPart read_part(const Node& node, const ParameterSection& parameters, const Facts& facts) {
  CommandPart part;
  if (node.json().is_string()) {
    if (auto text = read_template(node, parameters)) part.args.push_back(*std::move(text));
    return part;
  }
  const ObjectNode object(node,
                          "a text, or an object such as {\"when\": \"amp\", \"args\": "
                          "[\"--amp\"]}",
                          keys::k_command_part);
  if (const auto when = object.find("when")) {
    part.when = read_expression(*when, parameters.names(), facts);
  }
  const auto args = object.require("args");
  if (!args) return part;
  for (const Node& element : args->elements(k_max_parts)) {
    if (auto text = read_template(element, parameters)) part.args.push_back(*std::move(text));
  }
  if (args->json().is_array() && args->json().empty()) {
    args->fault("the list is empty: name the arguments, or remove the part");
  }
  return part;
}

/// Whether `text` mentions a parameter that has a condition.
bool may_vanish(const std::string& text, const ParameterSection& parameters) {
  for (const std::string& name : TextTemplate::parse(text)->parameters()) {
    if (parameters.find(name)->when) return true;
  }
  return false;
}

/// A lone text whose parameter may be inactive is left out then, and only what stands on its own
/// may be: without its value, the option before it would swallow the next argument.
void check_stands_alone(const std::vector<Node>& elements, std::size_t i, const std::string& text,
                        const ParameterSection& parameters) {
  if (!may_vanish(text, parameters)) return;
  const std::string prefix(TextTemplate::parse(text)->prefix());
  if (prefix.starts_with('-')) return;
  const Json& before = elements[i - 1].json();
  const auto option = before.is_string() ? before.get<std::string>() : std::string();
  const bool follows_option = option.starts_with('-') && option != "--" && option != "-" &&
                              option.find('=') == std::string::npos;
  if (prefix.find('=') != std::string::npos && !follows_option) return;
  const Json alone = {{"args", {text}}};
  const Json together = {{"args", {option, text}}};
  elements[i].fault(fmt::format(
      "its parameter has a condition, and without a value {}; write {}{}",
      follows_option ? fmt::format("\"{}\" would be left dangling", printable_line(option, 60))
                     : "the arguments after it would move up",
      follows_option ? dump_json(together) + " to keep the two together, or " : "",
      dump_json(alone) + " to leave out this one alone"));
}

}  // namespace

std::optional<std::string> read_template(const Node& node, const ParameterSection& parameters) {
  auto text = node.text(k_max_argument_bytes);
  if (!text) return std::nullopt;
  const auto parsed = TextTemplate::parse(*text);
  if (!parsed) {
    node.fault(parsed.error().message);
    return std::nullopt;
  }
  bool sound = true;
  for (const std::string& name : parsed->parameters()) {
    if (parameters.find(name) != nullptr) continue;
    node.fault(fmt::format("the placeholder {{{}}} has no parameter{}", name,
                           did_you_mean(name, parameters.names())));
    sound = false;
  }
  return sound ? text : std::nullopt;
}

std::vector<CommandPart> read_command(const Node& node, const ParameterSection& parameters,
                                      const Facts& facts) {
  std::vector<CommandPart> parts;
  const auto elements = node.elements(k_max_parts);
  for (const Node& element : elements)
    parts.push_back(read_part(element, parameters, facts));
  if (node.json().is_array() && node.json().empty()) {
    node.fault("the list is empty: name the training program and its arguments");
  }
  if (!elements.empty() && elements.front().json().is_object()) {
    elements.front().fault("the program itself must be a text: it is always there");
  } else if (!elements.empty() && elements.front().json() == "") {
    elements.front().fault("the program's name is empty");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool lone_text = elements[i].json().is_string() && !parts[i].args.empty();
    if (!lone_text) continue;
    if (i > 0) {
      check_stands_alone(elements, i, parts[i].args.front(), parameters);
    } else if (may_vanish(parts[i].args.front(), parameters)) {
      elements[i].fault("the program itself must not depend on a parameter with a condition");
    }
  }
  return parts;
}

std::map<std::string, std::string> read_environment(const Node& node,
                                                    const ParameterSection& parameters) {
  std::map<std::string, std::string> environment;
  for (const auto& [name, child] : node.members("an object of variables", k_max_variables)) {
    if (!is_identifier(name)) {
      child.fault(
          fmt::format("\"{}\" is no name of an environment variable: use letters, digits "
                      "and _, not starting with a digit",
                      printable_line(name, 60)));
      continue;
    }
    if (const auto reason = denied_variable(name)) {
      child.fault(*reason);
      continue;
    }
    if (auto text = read_template(child, parameters)) environment[name] = *std::move(text);
  }
  return environment;
}

}  // namespace steptune::study
