// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "trial_runner/instances/instance_keys.hpp"
#include "trial_runner/instances/limits.hpp"
#include "trial_runner/instances/rented_instances.hpp"

namespace steptune {
namespace {

using document::Faults;

std::string place_of(const RentedInstances& instances, std::size_t index) {
  return instances.groups[index].name.empty() ? "/runner"
                                              : fmt::format("/runner/instance_groups/{}", index);
}

/// Reports each faulty key once, with the first configuration that shows the fault.
class OnceEach {
 public:
  explicit OnceEach(Faults& faults) : faults_(faults) {}
  void add(const std::string& pointer, const std::string& message) {
    if (reported_.insert(pointer).second) faults_.add(pointer, message);
  }
  [[nodiscard]] bool any() const { return !reported_.empty(); }

 private:
  Faults& faults_;
  std::set<std::string> reported_;
};

void check_counts(const RentedInstances& instances, const Configuration& configuration,
                  OnceEach& faults) {
  double sum = 0.0;
  for (std::size_t i = 0; i < instances.groups.size(); ++i) {
    const RentedGroup& group = instances.groups[i];
    const double least = group.name.empty() ? 1.0 : 0.0;
    const double count = group.count.evaluate(configuration);
    sum += count;
    if (count >= least && count <= k_most_instances && count == std::floor(count)) continue;
    faults.add(
        place_of(instances, i) + "/instance_count",
        fmt::format("must be a whole number of at least {} and at most {}, but \"{}\" is {} "
                    "for {}",
                    least, k_most_instances, group.count.text(), count, configuration.text()));
  }
  if (sum == 0.0) {
    faults.add(
        "/runner/instance_groups",
        fmt::format("all groups are empty for {}: a job needs an instance", configuration.text()));
  }
}

/// Requested instance types, each with the JSON pointer of the key that requests it.
using Wanted = std::map<std::string, std::string>;

void collect_types(const RentedInstances& instances, const Configuration& configuration,
                   Wanted& wanted, OnceEach& faults) {
  for (std::size_t i = 0; i < instances.groups.size(); ++i) {
    const std::string pointer = place_of(instances, i) + "/instance_type";
    const auto type = instances.groups[i].type.render(configuration);
    if (type && !type->empty()) {
      wanted.emplace(*type, pointer);
    } else {
      faults.add(pointer, fmt::format("\"{}\" has no value for {}", instances.groups[i].type.text(),
                                      configuration.text()));
    }
  }
}

bool find_prices(RentedInstances& instances, const Wanted& wanted, Faults& faults) {
  const bool all_stated = std::ranges::all_of(
      wanted, [&](const auto& entry) { return instances.prices.contains(entry.first); });
  if (all_stated) return true;
  const auto table = price_table_of(instances);
  if (!table) {
    faults.add(instances.price_table.empty() ? "/runner/prices" : "/runner/price_table",
               document::with_hint(table.error()));
    return false;
  }
  bool found_all = true;
  for (const auto& [type, pointer] : wanted) {
    if (instances.prices.contains(type)) continue;
    const auto price = table->usd_per_hour({.instance_type = type});
    if (price) {
      instances.prices[type] = table->instances.at(type);
    } else {
      found_all = false;
      faults.add(pointer, fmt::format("{}; {}, or refresh the table with 'steptune prices refresh'",
                                      price.error().message, price.error().hint));
    }
  }
  return found_all;
}

}  // namespace

bool resolve_prices(RentedInstances& instances, const StudyView& study, Faults& faults) {
  if (instances.groups.empty()) return true;
  auto names = instances.names_in_types();
  const auto types = study.combinations(names, k_most_combinations);
  if (!types) {
    faults.add(place_of(instances, 0) + "/instance_type",
               fmt::format("more than {} combinations of values decide the instance types: use "
                           "parameters with fewer values",
                           k_most_combinations));
    return false;
  }
  OnceEach once(faults);
  Wanted wanted;
  for (const Configuration& combination : *types)
    collect_types(instances, combination, wanted, once);
  names.merge(instances.names_in_counts());
  const auto all = study.combinations(std::move(names), k_most_combinations);
  for (const Configuration& combination : all ? *all : std::vector{study.baseline})
    check_counts(instances, combination, once);
  return !once.any() && find_prices(instances, wanted, faults);
}

}  // namespace steptune
