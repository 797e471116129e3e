// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/instances/rented_instances.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"
#include "trial_runner/instances/limits.hpp"

namespace steptune {
namespace {

int count_of(const RentedGroup& group, const Configuration& configuration) {
  constexpr double k_most = 10'000.0;
  const double count = group.count.evaluate(configuration);
  return count >= 0.0 && count <= k_most && count == std::floor(count) ? static_cast<int>(count)
                                                                       : 0;
}

}  // namespace

Resources RentedInstances::resources_of(const Configuration& configuration) const {
  Resources resources;
  for (const RentedGroup& part : groups) {
    InstanceGroup group{part.name, {}, count_of(part, configuration)};
    if (group.instance_count == 0 && groups.size() > 1) continue;
    group.instance_type = part.type.render(configuration).value_or("");
    resources.groups.push_back(std::move(group));
  }
  if (!groups.empty() && resources.groups.empty()) resources.instance_count = 0;
  if (resources.groups.size() == 1) {
    resources.instance_type = resources.groups.front().instance_type;
    resources.instance_count = resources.groups.front().instance_count;
    resources.groups.clear();
  }
  return resources;
}

double RentedInstances::usd_per_hour(const Configuration& configuration) const {
  const auto price = steptune::usd_per_hour(prices, resources_of(configuration));
  // `resolve_prices` gave every type that the space can ask for its price.
  if (!price) throw std::logic_error(price.error().text());
  return *price;
}

std::set<std::string> RentedInstances::names_in_counts() const {
  std::set<std::string> names;
  for (const RentedGroup& group : groups) {
    for (std::string& name : document::identifiers_in(group.count.text()))
      names.insert(std::move(name));
  }
  return names;
}

std::set<std::string> RentedInstances::names_in_types() const {
  std::set<std::string> names;
  for (const RentedGroup& group : groups) {
    for (std::string& name : group.type.parameters())
      names.insert(std::move(name));
  }
  return names;
}

std::optional<std::vector<Resources>> RentedInstances::choices(const StudyView& study) const {
  auto names = names_in_types();
  names.merge(names_in_counts());
  const auto combinations = study.combinations(std::move(names), k_most_combinations);
  if (!combinations) return std::nullopt;
  std::vector<Resources> found;
  for (const Configuration& combination : *combinations) {
    Resources resources = resources_of(combination);
    if (std::ranges::find(found, resources) == found.end()) found.push_back(std::move(resources));
  }
  return found;
}

std::string RentedInstances::text() const {
  std::string text;
  for (const RentedGroup& group : groups) {
    const std::string& count = group.count.text();
    text += fmt::format("{}{}{}{}{}", text.empty() ? "" : ", ", group.name,
                        group.name.empty() ? "" : ": ", printable_line(group.type.text()),
                        count == "1" ? "" : fmt::format(" x {}", printable_line(count)));
  }
  return text;
}

Json with_stored_prices(Json document, const Json& stored, const Json& written) {
  if (!stored.contains("prices") || !document.contains("prices")) return document;
  for (const auto& [type, price] : stored["prices"].items()) {
    const bool stated = written.contains("prices") && written["prices"].contains(type);
    if (!stated && document["prices"].contains(type)) document["prices"][type] = price;
  }
  return document;
}

SummaryLine prices_line(const RentedInstances& instances, double baseline_usd,
                        const std::string& note) {
  std::string text;
  for (const auto& [name, type] : instances.prices) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, format_usd(type.usd_per_hour));
  }
  if (!text.empty()) {
    text = fmt::format("{} per hour; the baseline {}{}", text, format_usd(baseline_usd), note);
  }
  return {"prices", std::move(text)};
}

}  // namespace steptune
