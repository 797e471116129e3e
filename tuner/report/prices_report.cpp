// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/prices_report.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/text_table.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

double ratio_of(const PriceChange& change) {
  return std::abs(std::log(change.usd_now / change.usd_before));
}

bool is_searched(const std::string& type, const std::vector<std::string>& searched) {
  return searched.empty() || std::ranges::any_of(searched, [&](const std::string& part) {
           return type.find(part) != std::string::npos;
         });
}

std::string or_unknown(double number) {
  return number > 0.0 ? fmt::format("{}", number) : "-";
}

std::string listed_text(const char* what, const std::vector<std::string>& types) {
  if (types.empty()) return {};
  const auto listed_count = std::min(types.size(), k_shown_elements);
  const std::vector<std::string> shown(types.begin(),
                                       types.begin() + static_cast<std::ptrdiff_t>(listed_count));
  return fmt::format("{} {}: {}{}\n", types.size(), what, fmt::join(shown, " "),
                     listed_count < types.size() ? " ..." : "");
}

}  // namespace

PriceChanges compare_prices(const PriceTable& before, const PriceTable& now) {
  PriceChanges changes;
  for (const auto& [name, type] : now.instances) {
    const auto known = before.instances.find(name);
    if (known == before.instances.end()) {
      changes.added.push_back(name);
    } else if (known->second.usd_per_hour != type.usd_per_hour) {
      changes.changed.push_back({name, known->second.usd_per_hour, type.usd_per_hour});
    }
  }
  for (const auto& [name, type] : before.instances) {
    if (!now.instances.contains(name)) changes.gone.push_back(name);
  }
  std::ranges::stable_sort(changes.changed, std::greater<>(), ratio_of);
  return changes;
}

bool has_searched(const PriceTable& prices, const std::vector<std::string>& searched) {
  return searched.empty() || std::ranges::any_of(prices.instances, [&](const auto& type) {
           return is_searched(type.first, searched);
         });
}

std::string prices_text(const PriceSource& prices, const PriceListService& service,
                        const std::vector<std::string>& searched, std::size_t width) {
  TextTable table({{"instance type", Align::left},
                   {"USD/h", Align::right},
                   {"vCPUs", Align::right},
                   {"GiB", Align::right},
                   {"GPUs", Align::right}});
  for (const auto& [name, type] : prices.table.instances) {
    if (!is_searched(name, searched)) continue;
    table.add_row({printable_line(name), fmt::format("{}", type.usd_per_hour),
                   or_unknown(type.vcpus), or_unknown(type.memory_gib), or_unknown(type.gpus)});
  }
  const std::string heading =
      fmt::format("{}, {}, {}\n{}\n{}", service.heading(), printable_line(prices.table.region),
                  printable_line(prices.table.date), prices.file,
                  prices.source.empty() ? "" : fmt::format("{}\n", printable_line(prices.source)));
  return wrapped_entries(heading, width, 0) + table.text();
}

Json prices_json(const PriceSource& prices, const PriceListService& service,
                 const std::vector<std::string>& searched) {
  PriceSource shown = prices;
  std::erase_if(shown.table.instances,
                [&](const auto& entry) { return !is_searched(entry.first, searched); });
  Json json = price_table_json(shown, service);
  json["schema_version"] = k_json_schema_version;
  json["file"] = prices.file;
  return json;
}

RegionPrices compare_regions(std::vector<PriceSource> regions,
                             const std::vector<std::string>& searched) {
  RegionPrices prices;
  std::set<std::string> names;
  for (const PriceSource& region : regions) {
    for (const auto& [name, type] : region.table.instances) {
      if (is_searched(name, searched)) names.insert(name);
    }
  }
  for (const std::string& name : names) {
    RegionPrices::Type row{name, {}, 0};
    double least = k_infinity;
    for (const PriceSource& region : regions) {
      const auto found = region.table.instances.find(name);
      const bool known = found != region.table.instances.end();
      if (known && found->second.usd_per_hour < least) {
        least = found->second.usd_per_hour;
        row.cheapest = row.usd_per_hour.size();
      }
      row.usd_per_hour.push_back(known ? std::optional(found->second.usd_per_hour) : std::nullopt);
    }
    prices.types.push_back(std::move(row));
  }
  prices.regions = std::move(regions);
  return prices;
}

namespace {

/// True if the price in `region` is the lowest, and the price in another region is higher.
bool is_least(const RegionPrices::Type& type, std::size_t region) {
  const auto& usd = type.usd_per_hour;
  return usd[region] && *usd[region] == *usd[type.cheapest] &&
         std::ranges::any_of(usd,
                             [&](const auto& other) { return other && *other > *usd[region]; });
}

/// Returns how much the highest price exceeds the lowest: `+25.0 %`; empty if all prices are equal.
std::string most_over_least(const RegionPrices::Type& type) {
  const double least = *type.usd_per_hour[type.cheapest];
  double most = least;
  for (const auto& usd : type.usd_per_hour)
    most = std::max(most, usd.value_or(least));
  return most > least ? fmt::format("{:+.1f} %", 100.0 * (most / least - 1.0)) : "";
}

/// Returns the table of the regions from `begin` to `end`. The table of the last regions also
/// compares the prices of all regions.
TextTable regions_table(const RegionPrices& prices, std::size_t begin, std::size_t end) {
  const bool is_last = end == prices.regions.size();
  std::vector<TextTable::Column> columns{{"instance type", Align::left}};
  for (std::size_t i = begin; i < end; ++i)
    columns.push_back({printable_line(prices.regions[i].table.region), Align::right});
  if (is_last) columns.push_back({"most over least", Align::right});
  TextTable table(std::move(columns));
  for (const RegionPrices::Type& type : prices.types) {
    std::vector<std::string> row{printable_line(type.name)};
    for (std::size_t i = begin; i < end; ++i) {
      const auto& usd = type.usd_per_hour[i];
      row.push_back(usd ? fmt::format("{}{}", is_least(type, i) ? "* " : "", *usd) : "-");
    }
    if (is_last) row.push_back(most_over_least(type));
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace

std::string regions_text(const RegionPrices& prices, const PriceListService& service,
                         std::size_t width) {
  std::string text = fmt::format("{}\n", service.heading());
  for (const PriceSource& region : prices.regions) {
    text += fmt::format("{}, {}: {}\n", printable_line(region.table.region),
                        printable_line(region.table.date), region.file);
  }
  text = wrapped_entries(text, width, 0);
  for (std::size_t begin = 0; begin < prices.regions.size();) {
    std::size_t end = width == 0 ? prices.regions.size() : begin + 1;
    while (end < prices.regions.size() && regions_table(prices, begin, end + 1).width() <= width)
      ++end;
    text += "\n" + regions_table(prices, begin, end).text();
    begin = end;
  }
  const bool any_marked = std::ranges::any_of(
      prices.types, [](const RegionPrices::Type& type) { return is_least(type, type.cheapest); });
  return text + (any_marked ? "* least price per hour, in USD\n" : "");
}

Json regions_json(const RegionPrices& prices) {
  Json json = document_json();
  json["regions"] = Json::array();
  for (const PriceSource& region : prices.regions) {
    json["regions"].push_back({{"region", region.table.region},
                               {"date", region.table.date},
                               {"file", region.file},
                               {"source", region.source}});
  }
  json["instances"] = Json::object();
  for (const RegionPrices::Type& type : prices.types) {
    Json entry;
    entry["cheapest_regions"] = Json::array();
    entry["usd_per_hour"] = Json::object();
    for (std::size_t i = 0; i < type.usd_per_hour.size(); ++i) {
      if (type.usd_per_hour[i] == type.usd_per_hour[type.cheapest]) {
        entry["cheapest_regions"].push_back(prices.regions[i].table.region);
      }
      entry["usd_per_hour"][prices.regions[i].table.region] =
          type.usd_per_hour[i] ? Json(*type.usd_per_hour[i]) : Json(nullptr);
    }
    json["instances"][type.name] = std::move(entry);
  }
  return json;
}

std::string refresh_text(const PriceSource& now, const PriceSource* before,
                         const std::vector<std::string>& ambiguous, std::size_t width) {
  std::string text = fmt::format("{}: {} prices of {}, {}\n", now.file, now.table.instances.size(),
                                 now.table.region, now.table.date);
  text += listed_text("listed at several prices, the highest is used", ambiguous);
  if (before == nullptr) {
    return wrapped_entries(text + "there was no table for this region before\n", width, 0);
  }
  const PriceChanges changes = compare_prices(before->table, now.table);
  text += fmt::format("{} changed since {} ({})\n", changes.changed.size(),
                      printable_line(before->table.date), before->file);
  TextTable table({{"", Align::left}, {"", Align::right}, {"", Align::right}, {"", Align::right}});
  for (std::size_t i = 0; i < std::min(changes.changed.size(), k_shown_elements); ++i) {
    const PriceChange& change = changes.changed[i];
    table.add_row({fmt::format("  {}", change.type), fmt::format("${}", change.usd_before),
                   fmt::format("-> ${}", change.usd_now),
                   fmt::format("{:+.1f} %", 100.0 * (change.usd_now / change.usd_before - 1.0))});
  }
  const std::string lists =
      listed_text("new", changes.added) + listed_text("no longer listed", changes.gone);
  return wrapped_entries(text, width, 0) + table.text() + wrapped_entries(lists, width, 0);
}

Json refresh_json(const PriceSource& now, const PriceSource* before,
                  const std::vector<std::string>& ambiguous) {
  Json json = document_json();
  json["file"] = now.file;
  json["region"] = now.table.region;
  json["date"] = now.table.date;
  json["prices"] = now.table.instances.size();
  json["ambiguous"] = ambiguous;
  json["before"] = before != nullptr ? Json(before->file) : Json(nullptr);
  const PriceChanges changes =
      before != nullptr ? compare_prices(before->table, now.table) : PriceChanges{};
  json["changed"] = Json::array();
  for (const PriceChange& change : changes.changed) {
    json["changed"].push_back({{"type", change.type},
                               {"usd_per_hour_before", change.usd_before},
                               {"usd_per_hour", change.usd_now}});
  }
  json["added"] = changes.added;
  json["gone"] = changes.gone;
  return json;
}

Json price_table_json(const PriceSource& prices, const PriceListService& service) {
  const PriceTable& table = prices.table;
  Json json;
  json["schema_version"] = 1;
  json["what"] = service.description();
  json["region"] = table.region;
  json["date"] = table.date;
  json["source"] = prices.source;
  json["instances"] = Json::object();
  for (const auto& [name, type] : table.instances) {
    Json entry = {{"usd_per_hour", type.usd_per_hour}};
    if (type.vcpus > 0) entry["vcpus"] = type.vcpus;
    if (type.memory_gib > 0.0) entry["memory_gib"] = type.memory_gib;
    if (type.gpus > 0) entry["gpus"] = type.gpus;
    json["instances"][name] = std::move(entry);
  }
  return json;
}

}  // namespace steptune
