// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/cluster_section.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/document/type.hpp"
#include "common/text.hpp"
#include "tuner/study/study_keys.hpp"

namespace steptune::study {
namespace {

/// Of CreateTrainingJob: groups, and the characters of a group's name.
constexpr std::size_t k_max_groups = 5;
constexpr std::size_t k_max_group_name_bytes = 64;
constexpr std::size_t k_max_prices = 1000;
constexpr document::Range k_price_range{1e-6, 1e6};

document::StringTemplate read_type(const Node& node) {
  auto type = document::string_template().read(node);
  if (type && type->text().empty()) node.fault("the instance type is empty");
  return std::move(type).value_or(document::StringTemplate());
}

/// `least` is 0 for a group, which a configuration may go without.
void read_count(const Node& node, double least, document::Formula& count) {
  if (auto read = document::formula_or_integer({least, k_most_instances}).read(node)) {
    count = *std::move(read);
  }
}

InstancesSpec read_group(const Node& node) {
  InstancesSpec group;
  const ObjectNode object(node,
                          "an object such as {\"name\": \"helpers\", \"instance_type\": "
                          "\"ml.c5.4xlarge\", \"instance_count\": \"helpers\"}",
                          keys::k_instance_group);
  if (const auto name = object.require("name")) {
    group.group = name->string(k_max_group_name_bytes).value_or("");
    if (name->json().is_string() && group.group.empty()) name->fault("the group's name is empty");
  }
  if (const auto type = object.require("instance_type")) group.type = read_type(*type);
  if (const auto count = object.find("instance_count")) read_count(*count, 0.0, group.count);
  return group;
}

std::vector<InstancesSpec> read_groups(const Node& node) {
  std::vector<InstancesSpec> groups;
  for (const Node& element : node.elements(k_max_groups)) {
    groups.push_back(read_group(element));
    const auto same = std::count_if(groups.begin(), groups.end(), [&](const InstancesSpec& other) {
      return other.group == groups.back().group;
    });
    if (same > 1) {
      element.fault(
          fmt::format("the group \"{}\" appears twice", printable_line(groups.back().group, 60)));
    }
  }
  if (node.json().is_array() && node.json().empty()) {
    node.fault("the list is empty: name the groups, or give \"instance_type\"");
  }
  return groups;
}

}  // namespace

InstanceType read_instance_price(const Node& node, const InstanceType* known) {
  InstanceType type;
  if (!node.json().is_object()) {
    if (known != nullptr) type = *known;
    if (node.json().is_number()) {
      type.usd_per_hour = node.number(k_price_range).value_or(0.0);
    } else {
      node.wrong_type("USD per hour, or an object such as {\"usd_per_hour\": 1.408, \"vcpus\": 4}");
    }
    return type;
  }
  const ObjectNode object(node, "an object", keys::k_instance_price);
  if (object.require("usd_per_hour")) {
    object.read_number("usd_per_hour", type.usd_per_hour, k_price_range);
  }
  object.read_integer("vcpus", type.vcpus, {1.0, 65'536.0});
  object.read_number("memory_gib", type.memory_gib, {0.1, 1e6});
  object.read_integer("gpus", type.gpus, {0.0, 1024.0});
  return type;
}

Result<PriceTable> price_table_of(const ClusterSpec& cluster, const std::string& region) {
  if (!cluster.price_table.empty()) return read_price_table(cluster.price_table);
  return find_price_table(region.empty() ? "us-east-1" : region);
}

ClusterSpec read_cluster(const ObjectNode& runner, const std::string& region) {
  ClusterSpec cluster;
  const auto type = runner.find("instance_type");
  const auto count = runner.find("instance_count");
  const auto groups = runner.find("instance_groups");
  if (type) {
    InstancesSpec instances;
    instances.type = read_type(*type);
    if (count) read_count(*count, 1.0, instances.count);
    cluster.instances = {std::move(instances)};
  }
  if (count && !type) count->fault("counts instances, but no \"instance_type\" is given");
  if (groups) cluster.instances = read_groups(*groups);
  if (groups && type) groups->fault("give either \"instance_type\" or \"instance_groups\"");
  if (const auto table = runner.find("price_table")) {
    cluster.price_table = document::path().read(*table).value_or("");
  }
  const auto prices = runner.find("prices");
  if (!prices) return cluster;
  std::optional<PriceTable> table;
  if (auto found = price_table_of(cluster, region)) table = *std::move(found);
  for (const auto& [name, child] :
       prices->members("an object of prices by instance type", k_max_prices)) {
    const InstanceType* known = nullptr;
    if (table) {
      const auto entry = table->instances.find(name);
      if (entry != table->instances.end()) known = &entry->second;
    }
    cluster.prices[name] = read_instance_price(child, known);
  }
  return cluster;
}

}  // namespace steptune::study
