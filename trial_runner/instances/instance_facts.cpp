// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/json_fields.hpp"
#include "trial_runner/instances/instance_keys.hpp"
#include "trial_runner/instances/rented_instances.hpp"

namespace steptune {
namespace {

const Json* member(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() ? &*found : nullptr;
}

/// Returns the type of all instances; empty if there are several types, or if the type contains a
/// placeholder.
std::string only_type(const Json& section) {
  std::set<std::string> types;
  if (member(section, "instance_type") != nullptr) {
    types.insert(text_at(section, "instance_type"));
  }
  if (const Json* groups = member(section, "instance_groups")) {
    for (const Json& group : *groups)
      types.insert(text_at(group, "instance_type"));
  }
  const bool clear = types.size() == 1 && types.begin()->find('{') == std::string::npos;
  return clear ? *types.begin() : std::string();
}

std::optional<InstanceType> described(const Json& section, const std::string& type,
                                      const std::filesystem::path& folder,
                                      const std::string& price_list) {
  RentedInstances instances;
  instances.price_list = price_list;
  instances.region = text_at(section, "region");
  const std::string path = text_at(section, "price_table");
  if (!path.empty()) instances.price_table = (folder / path).lexically_normal();
  std::optional<InstanceType> found;
  if (const auto table = price_table_of(instances)) {
    const auto entry = table->instances.find(type);
    if (entry != table->instances.end()) found = entry->second;
  }
  const Json* prices = member(section, "prices");
  const Json* stated = prices == nullptr ? nullptr : member(*prices, type.c_str());
  if (stated == nullptr || !stated->is_object()) return found;
  document::Reading unheeded;  // faults are ignored here; the study's reader reports them
  InstanceType type_as_stated;
  instance_price_section().read(document::Node(*stated, "", unheeded), type_as_stated);
  return type_as_stated;
}

void add_counts(const Json& json, std::vector<std::string>& expressions) {
  std::string count = text_at(json, "instance_count");
  if (!count.empty()) expressions.push_back(std::move(count));
}

}  // namespace

RemoteMachine instance_facts(const Json& section, const std::filesystem::path& folder,
                             const std::string& price_list) {
  RemoteMachine known;
  add_counts(section, known.expressions);
  if (const Json* groups = member(section, "instance_groups"); groups && groups->is_array()) {
    for (const Json& group : *groups)
      add_counts(group, known.expressions);
  }
  const std::string type = only_type(section);
  if (type.empty()) {
    known.why_not_more = "trials run on more than one type of instance";
    return known;
  }
  known.why_not_more = "nothing is known about " + type;
  const auto found = described(section, type, folder, price_list);
  // A price alone gives no facts about the machine.
  if (!found || found->vcpus == 0) return known;
  known.facts["cpus"] = found->vcpus;
  known.facts["gpus"] = found->gpus;
  if (found->memory_gib > 0.0) known.facts["memory_gb"] = found->memory_gib;
  return known;
}

}  // namespace steptune
