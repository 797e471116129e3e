// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/resource_checks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "tuner/study/cluster_section.hpp"

namespace steptune::study {
namespace {

constexpr std::uint64_t k_most_combinations = 512;

using document::identifiers_in;
using Names = std::set<std::string>;

Names names_in_types(const ClusterSpec& cluster) {
  Names names;
  for (const InstancesSpec& instances : cluster.instances) {
    for (std::string& name : instances.type.parameters())
      names.insert(std::move(name));
  }
  return names;
}

Names names_in_counts(const ClusterSpec& cluster) {
  Names names;
  for (const InstancesSpec& instances : cluster.instances) {
    for (std::string& name : identifiers_in(instances.count.text()))
      names.insert(std::move(name));
  }
  return names;
}

/// The values of the parameters in `names` (and of those that decide whether they are active) that
/// occur together; nothing if there are too many. Constraints that mention others are not heeded.
std::optional<std::vector<Configuration>> combinations_of(const StudySpec& study, Names names) {
  std::vector<Parameter> deciding;
  const auto& parameters = study.space.parameters();
  for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter) {
    if (!names.contains(parameter->name)) continue;
    deciding.push_back(*parameter);
    for (std::string& name : identifiers_in(parameter->when.value_or("")))
      names.insert(std::move(name));
  }
  if (deciding.empty()) return std::vector{study.baseline};
  std::reverse(deciding.begin(), deciding.end());
  std::vector<std::string> constraints;
  for (const std::string& constraint : study.space.constraints()) {
    const bool decided =
        std::ranges::all_of(identifiers_in(constraint), [&](const std::string& name) {
          return names.contains(name) || study.space.find(name) == nullptr;
        });
    if (decided) constraints.push_back(constraint);
  }
  const auto space = SearchSpace::create(std::move(deciding), constraints, study.facts);
  if (!space) return std::nullopt;
  return space->enumerate(k_most_combinations);
}

std::optional<std::vector<Configuration>> deciding_combinations(const StudySpec& study) {
  Names names = names_in_types(study.runner.cluster);
  names.merge(names_in_counts(study.runner.cluster));
  return combinations_of(study, std::move(names));
}

std::string place_of(const StudySpec& study, std::size_t index) {
  return study.runner.cluster.instances[index].group.empty()
             ? "/runner"
             : fmt::format("/runner/instance_groups/{}", index);
}

/// Every faulty place is told once, with the first configuration that shows the fault.
class OnceEach {
 public:
  explicit OnceEach(Faults& faults) : faults_(faults) {}
  void add(const std::string& pointer, const std::string& message) {
    if (told_.insert(pointer).second) faults_.add(pointer, message);
  }

 private:
  Faults& faults_;
  std::set<std::string> told_;
};

void check_counts(const StudySpec& study, const Configuration& configuration, OnceEach& faults) {
  const auto& instances = study.runner.cluster.instances;
  double sum = 0.0;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const double least = instances[i].group.empty() ? 1.0 : 0.0;
    const double count = instances[i].count.evaluate(configuration);
    sum += count;
    if (count >= least && count <= k_most_instances && count == std::floor(count)) continue;
    faults.add(place_of(study, i) + "/instance_count",
               fmt::format("must be a whole number of at least {} and at most {}, but \"{}\" is {} "
                           "for {}",
                           least, k_most_instances, instances[i].count.text(), count,
                           configuration.text()));
  }
  if (sum == 0.0) {
    faults.add(
        "/runner/instance_groups",
        fmt::format("all groups are empty for {}: a job needs an instance", configuration.text()));
  }
}

/// Types that are asked for, and where.
using Wanted = std::map<std::string, std::string>;

void collect_types(const StudySpec& study, const Configuration& configuration, Wanted& wanted,
                   OnceEach& faults) {
  const auto& instances = study.runner.cluster.instances;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const std::string pointer = place_of(study, i) + "/instance_type";
    const auto type = instances[i].type.render(configuration);
    if (type && !type->empty()) {
      wanted.emplace(*type, pointer);
    } else {
      faults.add(pointer, fmt::format("\"{}\" has no value for {}", instances[i].type.text(),
                                      configuration.text()));
    }
  }
}

void find_prices(StudySpec& study, const Wanted& wanted, Faults& faults) {
  ClusterSpec& cluster = study.runner.cluster;
  const bool all_stated = std::ranges::all_of(
      wanted, [&](const auto& entry) { return cluster.prices.contains(entry.first); });
  if (all_stated) return;
  const auto table = price_table_of(cluster, study.runner.sagemaker.region);
  if (!table) {
    faults.add(cluster.price_table.empty() ? "/runner/prices" : "/runner/price_table",
               document::with_hint(table.error()));
    return;
  }
  for (const auto& [type, pointer] : wanted) {
    if (cluster.prices.contains(type)) continue;
    const auto price = table->usd_per_hour({.instance_type = type});
    if (price) {
      cluster.prices[type] = table->instances.at(type);
    } else {
      faults.add(pointer, fmt::format("{}; {}, or refresh the table with 'steptune prices refresh'",
                                      price.error().message, price.error().hint));
    }
  }
}

}  // namespace

std::optional<std::vector<Resources>> resource_choices(const StudySpec& study) {
  const auto combinations = deciding_combinations(study);
  if (!combinations) return std::nullopt;
  std::vector<Resources> choices;
  for (const Configuration& combination : *combinations) {
    Resources resources = resources_of(study, combination);
    if (std::ranges::find(choices, resources) == choices.end()) {
      choices.push_back(std::move(resources));
    }
  }
  return choices;
}

void resolve_prices(StudySpec& study, Faults& faults) {
  if (study.runner.cluster.instances.empty()) return;
  const auto types = combinations_of(study, names_in_types(study.runner.cluster));
  if (!types) {
    faults.add(place_of(study, 0) + "/instance_type",
               fmt::format("more than {} combinations of values decide the instance types: use "
                           "parameters with fewer values",
                           k_most_combinations));
    return;
  }
  OnceEach once(faults);
  Wanted wanted;
  for (const Configuration& combination : *types)
    collect_types(study, combination, wanted, once);
  const auto all = deciding_combinations(study);
  for (const Configuration& combination : all ? *all : std::vector{study.baseline})
    check_counts(study, combination, once);
  if (faults.empty()) find_prices(study, wanted, faults);
}

}  // namespace steptune::study
