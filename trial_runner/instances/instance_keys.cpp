// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/instances/instance_keys.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/instances/limits.hpp"

namespace steptune {
namespace {

using document::InFingerprint;
using document::Key;
using document::Node;
using document::ObjectNode;
using document::Range;
using document::Section;
using document::StringTemplate;
using document::Type;
using document::Writing;

/// Most instance types with a price or a discount.
constexpr std::size_t k_max_prices = 1000;
constexpr Range k_price_range{1e-6, 1e6};

Type<StringTemplate> instance_type() {
  return document::checked<StringTemplate>(
      document::string_template(),
      [](const StringTemplate& type) -> std::optional<std::string> {
        if (!type.text().empty()) return std::nullopt;
        return "the instance type is empty";
      },
      {{"minLength", 1}});
}

/// Returns the single unnamed group, which `instance_type` and `instance_count` describe; null if
/// the section has no group or named groups.
RentedGroup* lone_group(RentedInstances& instances) {
  const bool lone = instances.groups.size() == 1 && instances.groups.front().name.empty();
  return lone ? &instances.groups.front() : nullptr;
}
const RentedGroup* lone_group(const RentedInstances& instances) {
  const bool lone = instances.groups.size() == 1 && instances.groups.front().name.empty();
  return lone ? &instances.groups.front() : nullptr;
}

/// Returns a key for `member` of the single unnamed group. If `begins` is true, reading the key
/// creates the group.
template <typename V>
Key<RentedInstances> lone_group_key(std::string name, V RentedGroup::*member, Type<V> type,
                                    bool begins) {
  return {std::move(name),
          [member, begins, read = type.read](const Node& node, RentedInstances& instances) {
            if (begins) instances.groups = {RentedGroup{}};
            auto value = read(node);
            RentedGroup* group = lone_group(instances);
            if (value && group != nullptr) group->*member = *std::move(value);
          },
          [member, write = type.write](const RentedInstances& instances,
                                       const Writing& writing) -> std::optional<Json> {
            const RentedGroup* group = lone_group(instances);
            if (group == nullptr) return std::nullopt;
            return write(group->*member, writing);
          },
          type.schema};
}

Key<RentedInstances> groups_key() {
  const auto type = document::list_of(document::object(instance_group_section()), k_max_groups);
  const auto read = [type](const Node& node, RentedInstances& instances) {
    instances.groups = type.read(node).value_or(std::vector<RentedGroup>{});
    for (std::size_t i = 0; i < instances.groups.size(); ++i) {
      const std::string& name = instances.groups[i].name;
      const auto first = std::ranges::find(instances.groups, name, &RentedGroup::name);
      if (static_cast<std::size_t>(first - instances.groups.begin()) == i) continue;
      node.faults().add(fmt::format("{}/{}", node.pointer(), i),
                        fmt::format("the group \"{}\" appears twice", printable_line(name, 60)));
    }
    if (node.json().is_array() && node.json().empty()) {
      node.fault("the list is empty: name the groups, or give \"instance_type\"");
    }
  };
  const auto write = [type](const RentedInstances& instances,
                            const Writing& writing) -> std::optional<Json> {
    if (instances.groups.empty() || lone_group(instances) != nullptr) return std::nullopt;
    return type.write(instances.groups, writing);
  };
  const auto schema = [type](Json& definitions) {
    Json json = type.schema(definitions);
    json["minItems"] = 1;
    return json;
  };
  return {"instance_groups", read, write, schema};
}

Type<InstanceType> price() {
  auto type = document::object(instance_price_section());
  type.read = [read = type.read](const Node& node) -> std::optional<InstanceType> {
    if (node.json().is_object()) return read(node);
    if (!node.json().is_number()) {
      node.wrong_type("USD per hour, or an object such as {\"usd_per_hour\": 1.408, \"vcpus\": 4}");
      return InstanceType{};
    }
    return InstanceType{.usd_per_hour = node.number(k_price_range).value_or(0.0)};
  };
  type.schema = [of_object = type.schema](Json& definitions) {
    return Json{{"anyOf", {{{"type", "number"}, {"exclusiveMinimum", 0}}, of_object(definitions)}}};
  };
  return type;
}

Key<RentedInstances> prices_key() {
  const auto type = document::map_of(price(), "an object of prices by instance type", k_max_prices);
  const auto read = [type](const Node& node, RentedInstances& instances) {
    if (auto prices = type.read(node)) instances.prices = *std::move(prices);
  };
  const auto write = [type](const RentedInstances& instances,
                            const Writing& writing) -> std::optional<Json> {
    if (instances.groups.empty() || instances.prices.empty()) return std::nullopt;
    return type.write(instances.prices, writing);
  };
  return {"prices", read, write, type.schema};
}

/// Returns the key `price_table`. The key is read but never written: a written section contains the
/// table's prices instead.
Key<RentedInstances> price_table_key() {
  const auto type = document::path();
  return {"price_table",
          [type](const Node& node, RentedInstances& instances) {
            instances.price_table = type.read(node).value_or(std::filesystem::path{});
          },
          [](const RentedInstances&, const Writing&) { return std::optional<Json>(); },
          type.schema};
}

Key<RentedInstances> discounts_key() {
  // A discount of 100 % would make the machine free, so that cost could not be minimised.
  const auto type =
      document::map_of(document::number({0.0, 0.99}),
                       "an object of shares by instance type or pattern", k_max_prices);
  return {"discounts",
          [type](const Node& node, RentedInstances& instances) {
            if (auto discounts = type.read(node)) instances.discounts = *std::move(discounts);
          },
          [type](const RentedInstances& instances, const Writing& writing) -> std::optional<Json> {
            if (instances.discounts.empty()) return std::nullopt;
            return type.write(instances.discounts, writing);
          },
          type.schema};
}

std::vector<Key<RentedInstances>> make_instance_keys() {
  std::vector<Key<RentedInstances>> keys = {
      lone_group_key("instance_type", &RentedGroup::type, instance_type(), /*begins=*/true),
      lone_group_key("instance_count", &RentedGroup::count,
                     document::formula_or_count({1.0, k_most_instances}), /*begins=*/false),
      groups_key(),
      prices_key(),
      price_table_key(),
      discounts_key()};
  keys[0].doc("a template: `\"ml.g5.xlarge\"`, or `\"{instance}\"` for a parameter's value");
  keys[1].doc("a number, or an expression over parameters").default_words("1");
  keys[2].doc("a heterogeneous cluster, in place of `instance_type`");
  keys[3]
      .doc("USD per hour by instance type, or objects. Replaces the price table's")
      .in_fingerprint(InFingerprint::where_cost_is_objective);
  keys[4]
      .doc(
          "price table, relative to the study file. us-east-1 is installed; `steptune prices "
          "refresh` makes others")
      .default_words("the region's");
  keys[5]
      .doc(
          "share of the price that is not paid (Savings Plans), by instance type or pattern: "
          "`{\"ml.g5.*\": 0.36}`. The longest match counts")
      .default_words("none")
      .in_fingerprint(InFingerprint::where_cost_is_objective);
  return keys;
}

}  // namespace

const std::vector<Key<RentedInstances>>& instance_keys() {
  static const auto k_keys = make_instance_keys();
  return k_keys;
}

const Section<RentedGroup>& instance_group_section() {
  static const auto k_section = [] {
    using document::key;
    Section<RentedGroup> section("instance_group", "",
                                 "an object such as {\"name\": \"helpers\", \"instance_type\": "
                                 "\"ml.c5.4xlarge\", \"instance_count\": \"helpers\"}");
    const auto named = [](const std::string& name) -> std::optional<std::string> {
      if (!name.empty()) return std::nullopt;
      return "the group's name is empty";
    };
    section.add(key("instance_type", &RentedGroup::type, instance_type())
                    .doc("a template, as in the runner's `instance_type`")
                    .required());
    section.add(key("instance_count", &RentedGroup::count,
                    document::formula_or_count({0.0, k_most_instances}))
                    .doc("a number, or an expression over parameters; 0: the group is left out"));
    section.add(key("name", &RentedGroup::name,
                    document::checked<std::string>(document::string(k_max_group_name_bytes), named,
                                                   {{"minLength", 1}, {"maxLength", 64}}))
                    .doc("name of the group, for channels and the program")
                    .required());
    return section;
  }();
  return k_section;
}

const Section<InstanceType>& instance_price_section() {
  static const auto k_section = [] {
    using document::key;
    Section<InstanceType> section("instance_price", "", "an object");
    section.add(key("usd_per_hour", &InstanceType::usd_per_hour, document::number(k_price_range))
                    .doc("on demand, of one instance")
                    .required());
    section.add(key("gpus", &InstanceType::gpus, document::integer({0.0, 1024.0}))
                    .doc("GPUs of the instance"));
    section.add(key("vcpus", &InstanceType::vcpus, document::integer({1.0, 65'536.0}))
                    .doc("processors of the instance")
                    .omitted_at_default()
                    .default_words("not known"));
    section.add(key("memory_gib", &InstanceType::memory_gib, document::number({0.1, 1e6}))
                    .doc("memory of the instance")
                    .omitted_at_default()
                    .default_words("not known"));
    return section;
  }();
  return k_section;
}

void check_instance_keys(const ObjectNode& section, RentedInstances& instances) {
  const auto count = section.find("instance_count");
  const auto groups = section.find("instance_groups");
  if (count && !section.has("instance_type")) {
    count->fault("counts instances, but no \"instance_type\" is given");
  }
  if (groups && section.has("instance_type")) {
    groups->fault("give either \"instance_type\" or \"instance_groups\"");
  }
  const auto prices = section.find("prices");
  if (!prices || !prices->json().is_object()) return;
  const auto table = price_table_of(instances);
  if (!table) return;  // reported when one of its prices is needed
  for (auto& [name, type] : instances.prices) {
    const auto entry = table->instances.find(name);
    if (entry == table->instances.end() || !prices->json()[name].is_number()) continue;
    const double stated_usd = type.usd_per_hour;
    type = entry->second;
    type.usd_per_hour = stated_usd;
  }
}

Result<PriceTable> price_table_of(const RentedInstances& instances) {
  if (!instances.price_table.empty()) return read_price_table(instances.price_table);
  return find_price_table(instances.price_list,
                          instances.region.empty() ? "us-east-1" : instances.region);
}

}  // namespace steptune
