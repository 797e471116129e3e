// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/instances/rented_instances.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fnmatch.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"
#include "trial_runner/instances/limits.hpp"

namespace steptune {
namespace {

int count_of(const RentedGroup& group, const Configuration& configuration) {
  const double count = group.count.evaluate(configuration);
  const bool is_usable = count >= 0.0 && count <= k_most_instances && count == std::floor(count);
  return is_usable ? static_cast<int>(count) : 0;
}

/// Returns the discount for `type` as a share of the list price. Without a discount for exactly
/// this name, the longest matching pattern applies.
double discount_of(const std::map<std::string, double>& discounts, const std::string& type) {
  if (const auto exact = discounts.find(type); exact != discounts.end()) return exact->second;
  std::size_t longest = 0;
  double share = 0.0;
  for (const auto& [pattern, off] : discounts) {
    if (pattern.size() <= longest || ::fnmatch(pattern.c_str(), type.c_str(), 0) != 0) continue;
    longest = pattern.size();
    share = off;
  }
  return share;
}

}  // namespace

bool has_own_disk(const std::string& instance_type) {
  constexpr std::array<std::string_view, 14> k_families = {
      "g5",      "g6",      "g6e",       "gr6",  "p5",    "p5e",  "p5en",
      "p6-b200", "p6-b300", "p6e-gb200", "trn1", "trn1n", "trn2", "trn2u"};
  std::string_view family = instance_type;
  if (family.starts_with("ml.")) family.remove_prefix(3);
  family = family.substr(0, family.find('.'));
  const auto generation = std::min(family.find_first_of("0123456789"), family.size());
  return family.find('d', generation) != std::string_view::npos ||
         std::ranges::find(k_families, family) != k_families.end();
}

std::map<std::string, PriceParts> RentedInstances::price_parts() const {
  std::map<std::string, PriceParts> parts;
  for (const auto& [name, type] : prices) {
    const double list_usd = type.usd_per_hour;
    parts[name] = {list_usd, discount_of(discounts, name) * list_usd,
                   has_own_disk(name) ? 0.0 : storage_usd_per_hour};
  }
  return parts;
}

std::map<std::string, InstanceType> RentedInstances::paid() const {
  std::map<std::string, InstanceType> paid = prices;
  for (const auto& [name, parts] : price_parts())
    paid.at(name).usd_per_hour = parts.usd();
  return paid;
}

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
  const bool as_listed = discounts.empty() && storage_usd_per_hour == 0.0;
  const auto price =
      steptune::usd_per_hour(as_listed ? prices : paid(), resources_of(configuration));
  // `resolve_prices` has set the price of every type in the space.
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
  const auto by_type = instances.price_parts();
  for (const auto& [name, parts] : by_type) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, format_usd(parts.usd()));
    if (parts.discount_usd == 0.0 && parts.volume_usd == 0.0) continue;
    std::string words = fmt::format("list {}", format_usd(parts.list_usd));
    if (parts.discount_usd > 0.0) {
      words += fmt::format(" less {:.4g} %", 100.0 * parts.discount_usd / parts.list_usd);
    }
    if (parts.volume_usd > 0.0) words += fmt::format(", storage {}", format_usd(parts.volume_usd));
    text += fmt::format(" ({})", words);
  }
  if (!text.empty()) {
    text = fmt::format("{} per hour; the baseline {}{}", text, format_usd(baseline_usd), note);
  }
  for (const auto& [pattern, off] : instances.discounts) {
    const bool is_used = std::ranges::any_of(by_type, [&](const auto& type) {
      return type.first == pattern || ::fnmatch(pattern.c_str(), type.first.c_str(), 0) == 0;
    });
    if (is_used) continue;
    text += fmt::format("{}the discount for {} matches no instance type of this study",
                        text.empty() ? "" : "; ", pattern);
  }
  return {"prices", std::move(text)};
}

}  // namespace steptune
