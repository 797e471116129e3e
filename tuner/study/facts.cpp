// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/facts.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/document/identifiers.hpp"
#include "common/machine/cgroup.hpp"
#include "common/machine/cpus.hpp"
#include "common/machine/gpus.hpp"
#include "common/machine/memory.hpp"
#include "common/units.hpp"
#include "tuner/study/sections.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {
namespace {

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

Key<Facts> fact_key(const char* name) {
  const auto type = document::number({0.0, 1e9});
  return {
      name,
      [type, name](const Node& node, Facts& facts) {
        if (const auto value = type.read(node)) facts[name] = *value;
      },
      [type, name](const Facts& facts, const document::Writing& writing) -> std::optional<Json> {
        const auto found = facts.find(name);
        if (found == facts.end()) return std::nullopt;
        return type.write(found->second, writing);
      },
      type.schema};
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
  for (const char* fact : k_fact_names) {
    const bool is_parameter = parameters != nullptr && member(*parameters, fact) != nullptr;
    if (!mentioned.contains(fact) || facts.contains(fact) || is_parameter) continue;
    root.node().faults().add(
        "/facts", fmt::format("\"{}\" is mentioned, but {}: state \"{}\" under \"facts\"", fact,
                              known.why_not_more, fact));
    facts[fact] = 1.0;  // prevents one more fault at each mention
  }
  return facts;
}

const Section<Facts>& facts_section() {
  static const auto k_section =
      Section<Facts>("facts", "Facts about the machine, stated instead of detected.",
                     "an object of facts by name")
          .add(fact_key("cpus")
                   .default_words("detected")
                   .doc("processors that this process may use"))
          .add(fact_key("gpus")
                   .default_words("detected")
                   .doc("visible GPUs of NVIDIA, otherwise of AMD"))
          .add(fact_key("memory_gb")
                   .default_words("detected")
                   .doc("memory in GiB, at most the cgroup's"));
  return k_section;
}

Facts facts_of(const SystemFiles& files, int allowed_cpus,
               const std::map<std::string, std::string>& variables) {
  // Tenths of a GiB, rounded down, so that a kernel update does not look like another machine.
  const double memory_gb = std::floor(usable_memory_bytes(files) / k_gib_bytes * 10.0) / 10.0;
  // Environment variables may name more GPUs than exist.
  const double gpus = std::min<double>(count_gpus(files).count,
                                       static_cast<double>(visible_gpus(files, variables).size()));
  return {{"cpus", usable_cpus(allowed_cpus, cgroup_cpu_quota(files))},
          {"gpus", gpus},
          {"memory_gb", memory_gb}};
}

}  // namespace steptune::study

namespace steptune {

Facts detected_facts() {
  const auto allowed = allowed_cpus();
  const auto count = allowed ? static_cast<long>(allowed->size()) : sysconf(_SC_NPROCESSORS_ONLN);
  return study::facts_of(SystemFiles{}, static_cast<int>(std::max(1L, count)), process_variables());
}

}  // namespace steptune
