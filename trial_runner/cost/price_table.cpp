// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/cost/price_table.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

Result<InstanceType> instance_from_json(const Json& json, const std::string& where) {
  if (!json.is_object()) return fail(ErrorKind::usage, "expected an object", where);
  InstanceType type;
  const auto price = json.find("usd_per_hour");
  if (price == json.end() || !price->is_number() || !(price->get<double>() > 0.0) ||
      !std::isfinite(price->get<double>())) {
    return fail(ErrorKind::usage, "expected a positive number", where + "/usd_per_hour");
  }
  type.usd_per_hour = price->get<double>();
  const auto number = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  type.vcpus = count_from(number("vcpus")).value_or(0);
  type.memory_gib = std::max(0.0, number("memory_gib"));
  type.gpus = count_from(number("gpus")).value_or(0);
  return type;
}

}  // namespace

std::vector<InstanceGroup> rented_groups(const Resources& resources) {
  if (!resources.groups.empty()) return resources.groups;
  return {{{}, resources.instance_type, resources.instance_count}};
}

Result<double> usd_per_hour(const std::map<std::string, InstanceType>& instances,
                            const Resources& resources) {
  double sum = 0.0;
  for (const InstanceGroup& group : rented_groups(resources)) {
    const auto found = instances.find(group.instance_type);
    if (found == instances.end()) {
      std::vector<std::string> names;
      for (const auto& [name, type] : instances)
        names.push_back(name);
      return fail(ErrorKind::usage,
                  fmt::format("no price for the instance type \"{}\"{}", group.instance_type,
                              did_you_mean(group.instance_type, names)),
                  {}, "give it under \"prices\" of the study's runner, in USD per hour");
    }
    sum += found->second.usd_per_hour * group.instance_count;
  }
  return sum;
}

Result<double> PriceTable::usd_per_hour(const Resources& resources) const {
  auto price = steptune::usd_per_hour(instances, resources);
  if (!price) price.error().message += fmt::format(" (prices of {}, {})", region, date);
  return price;
}

Result<PriceTable> price_table_from_json(const Json& json, const std::string& where) {
  PriceTable table;
  if (!json.is_object()) return fail(ErrorKind::usage, "expected an object", where);
  table.region = text_at(json, "region");
  table.date = text_at(json, "date");
  if (table.region.empty()) return fail(ErrorKind::usage, "expected a name", where + "#/region");
  const auto instances = json.find("instances");
  if (instances == json.end() || !instances->is_object()) {
    return fail(ErrorKind::usage, "expected an object", where + "#/instances");
  }
  for (const auto& [name, entry] : instances->items()) {
    auto type = instance_from_json(entry, fmt::format("{}#/instances/{}", where, name));
    if (!type) return tl::unexpected(type.error());
    table.instances.emplace(name, *type);
  }
  return table;
}

Result<PriceTable> read_price_table(const std::filesystem::path& file) {
  const auto json = read_json_file(file);
  if (!json) return tl::unexpected(json.error());
  return price_table_from_json(*json, file.string());
}

}  // namespace steptune
