// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/instance_facts.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "tuner/study/cluster_section.hpp"
#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

const Json* member(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? &*found : nullptr;
}

std::string text_of(const Json& json, const char* key) {
  const Json* found = member(json, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

/// The one type that all instances have; empty if there are several or a placeholder decides.
std::string only_type(const Json& runner) {
  std::set<std::string> types;
  if (member(runner, "instance_type") != nullptr) types.insert(text_of(runner, "instance_type"));
  if (const Json* groups = member(runner, "instance_groups")) {
    for (const Json& group : *groups)
      types.insert(text_of(group, "instance_type"));
  }
  const bool clear = types.size() == 1 && types.begin()->find('{') == std::string::npos;
  return clear ? *types.begin() : std::string();
}

std::optional<InstanceType> described(const Json& runner, const std::string& type,
                                      const std::filesystem::path& folder) {
  ClusterSpec cluster;
  const std::string path = text_of(runner, "price_table");
  if (!path.empty()) cluster.price_table = (folder / path).lexically_normal();
  std::optional<InstanceType> found;
  const std::string region = text_of(runner, "region");
  if (const auto table = price_table_of(cluster, region)) {
    const auto entry = table->instances.find(type);
    if (entry != table->instances.end()) found = entry->second;
  }
  const Json* prices = member(runner, "prices");
  const Json* stated = prices == nullptr ? nullptr : member(*prices, type.c_str());
  if (stated == nullptr || !stated->is_object()) return found;
  document::Reading unheeded;  // its faults are told when the runner's section is read
  return read_instance_price(Node(*stated, "", unheeded), nullptr);
}

Facts facts_of(const InstanceType& type) {
  Facts facts;
  // Not known of the machine: not a fact, rather than none.
  if (type.vcpus == 0) return facts;
  facts["cpus"] = type.vcpus;
  facts["gpus"] = type.gpus;
  if (type.memory_gib > 0.0) facts["memory_gb"] = type.memory_gib;
  return facts;
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

/// The names in all expressions of the document.
std::set<std::string> names_in_expressions(const Json& document) {
  std::set<std::string> mentioned;
  collect_each(member(document, "parameters"), {"low", "high", "step", "when"}, mentioned);
  collect_each(member(document, "constraints"), {}, mentioned);
  if (const Json* planned = member(document, "planned_run")) {
    collect(member(*planned, "batch_size"), mentioned);
  }
  if (const Json* command = member(document, "command");
      command != nullptr && command->is_array()) {
    for (const Json& part : *command)
      collect(member(part, "when"), mentioned);
  }
  if (const Json* runner = member(document, "runner")) {
    collect(member(*runner, "instance_count"), mentioned);
    collect_each(member(*runner, "instance_groups"), {"instance_count"}, mentioned);
  }
  return mentioned;
}

}  // namespace

Facts instance_facts(const ObjectNode& root) {
  const Json& document = root.node().json();
  const Json& runner = document.at("runner");
  Facts facts;
  const std::string type = only_type(runner);
  if (!type.empty()) {
    if (const auto found = described(runner, type, root.node().reading().folder))
      facts = facts_of(*found);
  }
  if (const auto stated = root.find("facts")) facts_section().read(*stated, facts);
  const std::set<std::string> mentioned = names_in_expressions(document);
  const Json* parameters = member(document, "parameters");
  for (const std::string_view name : {"cpus", "gpus", "memory_gb"}) {
    const std::string fact(name);
    const bool is_parameter = parameters != nullptr && member(*parameters, fact.c_str()) != nullptr;
    if (!mentioned.contains(fact) || facts.contains(fact) || is_parameter) continue;
    root.node().faults().add(
        "/facts", fmt::format("\"{}\" is mentioned, but {}: state \"{}\" under \"facts\"", fact,
                              type.empty() ? "trials run on more than one type of instance"
                                           : "nothing is known of " + type,
                              fact));
    facts[fact] = 1.0;  // so that its mentions do not become faults, too
  }
  return facts;
}

}  // namespace steptune::study
