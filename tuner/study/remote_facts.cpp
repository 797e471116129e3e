// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/remote_facts.hpp"

#include <array>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

constexpr std::array k_facts = {"cpus", "gpus", "memory_gb"};

const Json* member(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? &*found : nullptr;
}

void collect(const Json* value, std::set<std::string>& mentioned) {
  if (value == nullptr || !value->is_string()) return;
  for (std::string& name : document::identifiers_in(value->get_ref<const std::string&>()))
    mentioned.insert(std::move(name));
}

void collect_each(const Json* list, std::initializer_list<const char*> keys,
                  std::set<std::string>& mentioned) {
  if (list == nullptr || !list->is_structured()) return;
  for (const Json& element : *list) {
    collect(&element, mentioned);
    for (const char* key : keys)
      collect(member(element, key), mentioned);
  }
}

/// Returns the names in the document's expressions, except expressions in the runner's section.
std::set<std::string> names_in_expressions(const Json& document) {
  std::set<std::string> mentioned;
  collect_each(member(document, "parameters"), {"low", "high", "step", "when"}, mentioned);
  collect_each(member(document, "constraints"), {}, mentioned);
  if (const Json* planned = member(document, "planned_run")) {
    collect(member(*planned, "batch_size"), mentioned);
  }
  if (const Json* measure = member(document, "measure")) {
    collect(member(*measure, "buffers"), mentioned);
  }
  if (const Json* search = member(document, "search")) {
    collect_each(member(*search, "memory_terms"), {}, mentioned);
  }
  if (const Json* launch = member(document, "launch")) {
    collect(member(*launch, "nodes"), mentioned);
    collect(member(*launch, "processes_per_node"), mentioned);
  }
  if (const Json* command = member(document, "command");
      command != nullptr && command->is_array()) {
    for (const Json& part : *command)
      collect(member(part, "when"), mentioned);
  }
  return mentioned;
}

}  // namespace

Facts remote_facts(const ObjectNode& root, RemoteMachine known) {
  const Json& document = root.node().json();
  Facts facts = std::move(known.facts);
  if (const auto stated = root.find("facts")) facts_section().read(*stated, facts);
  std::set<std::string> mentioned = names_in_expressions(document);
  for (const std::string& expression : known.expressions) {
    for (std::string& name : document::identifiers_in(expression))
      mentioned.insert(std::move(name));
  }
  const Json* parameters = member(document, "parameters");
  for (const char* fact : k_facts) {
    const bool is_parameter = parameters != nullptr && member(*parameters, fact) != nullptr;
    if (!mentioned.contains(fact) || facts.contains(fact) || is_parameter) continue;
    root.node().faults().add(
        "/facts", fmt::format("\"{}\" is mentioned, but {}: state \"{}\" under \"facts\"", fact,
                              known.why_not_more, fact));
    facts[fact] = 1.0;  // prevents a fault for each mention
  }
  return facts;
}

}  // namespace steptune::study
