// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/pools_report.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/enum_names.hpp"
#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/machine_hours.hpp"
#include "tuner/report/text_table.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

constexpr auto k_holding_names = enum_names<Holding>({
    {Holding::running, "running"},
    {Holding::settling, "settling"},
    {Holding::kept, "kept"},
});

constexpr auto k_release_names = enum_names<ReleaseOutcome>({
    {ReleaseOutcome::released, "released"},
    {ReleaseOutcome::gone, "gone"},
    {ReleaseOutcome::not_ready, "not_ready"},
});

std::string usd_or_unknown(const std::optional<double>& usd) {
  return usd ? format_usd(*usd) : "unknown";
}

/// Returns a price. For spot machines, marks it as the highest price, because they may cost less.
std::string at_most(const std::optional<double>& usd, bool spot) {
  const std::string text = usd_or_unknown(usd);
  return usd && spot ? fmt::format("spot, <= {}", text) : text;
}

/// Returns the parts of the hourly price: `spot, about $0.49 by spot_share 0.35, 20 % off, volume
/// $0.01`.
std::string price_text(const HeldMachines& held) {
  if (!held.usd_per_hour) return "-";
  std::string text = held.spot ? "spot" : "on demand";
  if (held.spot_share) {
    text += fmt::format(", about {} by spot_share {:.4g}",
                        format_usd(*held.spot_share * *held.usd_per_hour), *held.spot_share);
  }
  if (!held.study_price) return text + ", price table";
  const PriceParts& parts = *held.study_price;
  if (parts.discount_usd > 0.0) {
    text += fmt::format(", {:.4g} % off", 100.0 * parts.discount_usd / parts.list_usd);
  }
  if (parts.volume_usd > 0.0) text += fmt::format(", volume {}", format_usd(parts.volume_usd));
  return text;
}

/// Returns the expected price per hour. For spot machines this is the billed share of the price.
/// Returns nullopt if the price or that share is unknown.
std::optional<double> expected_usd_per_hour(const HeldMachines& held) {
  if (!held.usd_per_hour || (held.spot && !held.spot_share)) return std::nullopt;
  return *held.usd_per_hour * held.spot_share.value_or(1.0);
}

/// Returns the money that the machines have cost; without prices, their machine-hours.
std::string spent_text(const HeldMachines& held) {
  if (!held.usd_so_far && held.machine_hours) return machine_hours_text(*held.machine_hours);
  return at_most(held.usd_so_far, held.spot);
}

/// True if all machines are counted in hours, as on a cluster.
bool are_counted_in_hours(const std::vector<HeldMachines>& machines) {
  return !machines.empty() && std::ranges::all_of(machines, [](const HeldMachines& held) {
    return held.machine_hours && !held.usd_per_hour;
  });
}

/// Total price of several machines. Leaves out machines without a known price.
struct Sum {
  double usd_per_hour = 0.0;
  std::size_t unknown = 0;
  bool spot = false;  ///< true if some machines are spot machines, which may cost less
  std::optional<double> expected_usd_per_hour = 0.0;  ///< nullopt if not known for all
};

Sum sum_of(const std::vector<HeldMachines>& machines) {
  Sum sum;
  for (const HeldMachines& held : machines) {
    const auto expected_usd = expected_usd_per_hour(held);
    if (!expected_usd) {
      sum.expected_usd_per_hour.reset();
    } else if (sum.expected_usd_per_hour) {
      *sum.expected_usd_per_hour += *expected_usd;
    }
    if (held.usd_per_hour) {
      sum.usd_per_hour += *held.usd_per_hour;
      sum.spot = sum.spot || held.spot;
    } else {
      ++sum.unknown;
    }
  }
  return sum;
}

std::string counted(std::ptrdiff_t count, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string status_text(const HeldMachines& held, const HeldMachinesService& service) {
  switch (held.holding) {
    case Holding::running:
      return fmt::format("job: {}", printable_line(held.status, 40));
    case Holding::settling:
      return "settling";
    case Holding::kept:
      break;
  }
  return service.kept_name(/*several=*/false);
}

struct PoolColumn {
  TextTable::Column column;
  int importance = 0;  ///< on a narrow terminal the least important columns are dropped first
  std::function<std::string(const HeldMachines&)> text;
};

/// Returns the columns of the table. A job's name includes study and trial, so the columns of study
/// and trial are dropped first. Names are cut last, because the command to release machines needs
/// them.
std::vector<PoolColumn> pool_columns(const HeldMachinesReport& view,
                                     const HeldMachinesService& service) {
  std::vector<PoolColumn> columns{
      {{"job", Align::left},
       k_never_dropped,
       [](const HeldMachines& held) { return printable_line(held.job); }},
      {{"study", Align::left},
       0,
       [](const HeldMachines& held) { return held.owner ? held.owner->study : "-"; }},
      {{"trial", Align::right},
       1,
       [](const HeldMachines& held) {
         return held.owner ? fmt::format("{}", held.owner->key.trial) : "-";
       }},
      {{"machines", Align::left},
       6,
       [](const HeldMachines& held) { return to_text(held.resources); }},
      {{"state", Align::left},
       k_never_dropped,
       [&service](const HeldMachines& held) { return status_text(held, service); }},
      {{"for", Align::right},
       3,
       [&view](const HeldMachines& held) {
         return format_duration(std::max(0.0, view.now_wall_s - held.since_wall_s));
       }},
      {{"left", Align::right},
       4,
       [](const HeldMachines& held) { return held.left_s ? format_duration(*held.left_s) : "-"; }},
      {{"so far", Align::right}, 5, spent_text},
      {{"per hour", Align::right},
       k_never_dropped,
       [](const HeldMachines& held) { return at_most(held.usd_per_hour, held.spot); }},
      {{"price", Align::left}, 2, price_text},
  };
  if (are_counted_in_hours(view.machines)) columns.erase(columns.end() - 2, columns.end());
  return columns;
}

TextTable pools_table(const std::vector<PoolColumn>& columns,
                      const std::vector<HeldMachines>& machines, std::size_t widest_job) {
  std::vector<TextTable::Column> titles;
  for (const PoolColumn& column : columns)
    titles.push_back(column.column);
  TextTable table(std::move(titles));
  for (const HeldMachines& held : machines) {
    std::vector<std::string> cells;
    for (const PoolColumn& column : columns)
      cells.push_back(column.text(held));
    cells.front() = elide_middle(cells.front(), widest_job);
    table.add_row(std::move(cells));
  }
  return table;
}

std::string pools_table_text(const HeldMachinesReport& view, const HeldMachinesService& service,
                             std::size_t width) {
  std::vector<PoolColumn> columns = pool_columns(view, service);
  TextTable table = pools_table(columns, view.machines, k_any_length);
  while (width > 0 && table.width() > width) {
    const auto least = std::ranges::min_element(columns, {}, &PoolColumn::importance);
    if (least->importance >= k_never_dropped) break;
    columns.erase(least);
    table = pools_table(columns, view.machines, k_any_length);
  }
  if (width == 0 || table.width() <= width) return table.text();
  const std::size_t widest =
      cut_width(width, pools_table(columns, view.machines, 0), columns.front().column.title);
  return pools_table(columns, view.machines, widest).text();
}

std::string sum_text(const HeldMachinesReport& view, const HeldMachinesService& service) {
  const auto running = std::ranges::count(view.machines, Holding::running, &HeldMachines::holding);
  const auto pools = std::ssize(view.machines) - running;
  std::string text = counted(pools, service.kept_name(false), service.kept_name(true));
  if (running > 0) text += " and " + counted(running, "running job", "running jobs");
  if (are_counted_in_hours(view.machines)) {
    double hours = 0.0;
    for (const HeldMachines& held : view.machines)
      hours += *held.machine_hours;
    return fmt::format("{}: {} so far\n", text, machine_hours_text(hours));
  }
  const Sum sum = sum_of(view.machines);
  const char* bound = sum.spot && sum.unknown > 0 ? "about "
                      : sum.spot                  ? "at most "
                      : sum.unknown > 0           ? "at least "
                                                  : "";
  text += fmt::format(": {}{} per hour", bound, format_usd(sum.usd_per_hour));
  if (sum.unknown > 0) {
    text += fmt::format(", and {} of unknown price", sum.unknown);
  } else if (sum.spot && sum.expected_usd_per_hour) {
    text += fmt::format(", about {} expected", format_usd(*sum.expected_usd_per_hour));
  }
  return text + "\n";
}

std::string advice_line(const std::string& wish, const std::string& command) {
  return fmt::format("{:<23} {}\n", wish, command);
}

std::string advice_text(const HeldMachinesReport& view, const HeldMachinesService& service) {
  std::string text;
  const auto any = [&](Holding holding) {
    return std::ranges::any_of(view.machines, [&](const HeldMachines& held) {
      return held.holding == holding && held.owner;
    });
  };
  if (any(Holding::kept) || any(Holding::settling)) {
    text += advice_line(fmt::format("give {} back:", service.kept_name(true)),
                        service.release_command());
  }
  if (any(Holding::running)) {
    text += advice_line("continue a study:", "steptune run STUDY_FILE") +
            advice_line("end a job for good:", service.end_command());
  }
  return text;
}

std::string release_text(const Release& release, const HeldMachinesService& service) {
  const HeldMachines& held = release.machines;
  const std::string name = printable_line(held.job);
  switch (release.outcome) {
    case ReleaseOutcome::released:
      return fmt::format("given back: {} of job {}, kept for {}, {}\n", to_text(held.resources),
                         name, format_duration(held.retained_s.value_or(0.0)), spent_text(held));
    case ReleaseOutcome::gone:
      return fmt::format("gone already: the {} of job {}\n", service.kept_name(false), name);
    case ReleaseOutcome::not_ready:
      break;
  }
  return fmt::format(
      "not given back: job {} has ended, but its machines are not free yet; try again in a "
      "minute\n",
      name);
}

Json machines_json(const Resources& resources) {
  std::vector<InstanceGroup> groups = resources.groups;
  if (groups.empty()) groups.push_back({{}, resources.instance_type, resources.instance_count});
  Json json = Json::array();
  for (const InstanceGroup& group : groups) {
    json.push_back({{"type", group.instance_type}, {"count", group.instance_count}});
  }
  return json;
}

/// Returns source and parts of the price; null if the price is unknown.
Json price_json(const HeldMachines& held) {
  if (!held.usd_per_hour) return nullptr;
  Json json;
  json["from"] = held.study_price ? "study" : "price_table";
  json["market"] = held.spot ? "spot" : "on_demand";
  const auto part = [&](double PriceParts::*member) {
    return held.study_price ? number_or_null((*held.study_price).*member) : Json(nullptr);
  };
  json["list_usd_per_hour"] =
      held.study_price ? part(&PriceParts::list_usd) : number_or_null(held.usd_per_hour);
  json["discount_usd_per_hour"] = part(&PriceParts::discount_usd);
  json["volume_usd_per_hour"] = part(&PriceParts::volume_usd);
  json["spot_share"] = number_or_null(held.spot_share);
  json["expected_usd_per_hour"] = number_or_null(expected_usd_per_hour(held));
  return json;
}

Json held_json(const HeldMachines& held) {
  Json json;
  json["job"] = held.job;
  json["study"] = held.owner ? Json(held.owner->study) : Json(nullptr);
  json["trial"] = held.owner ? Json(held.owner->key.trial) : Json(nullptr);
  json["attempt"] = held.owner ? Json(held.owner->key.attempt) : Json(nullptr);
  json["holding"] = k_holding_names.name_of(held.holding);
  json["status"] = held.status;
  json["instances"] = machines_json(held.resources);
  json["since"] = format_utc(held.since_wall_s);
  json["retained_s"] = number_or_null(held.retained_s);
  json["keep_alive_left_s"] = number_or_null(held.left_s);
  json["usd_so_far"] = number_or_null(held.usd_so_far);
  json["usd_per_hour"] = number_or_null(held.usd_per_hour);
  if (held.machine_hours) json["machine_hours"] = number_or_null(held.machine_hours);
  json["spot"] = held.spot;
  json["price"] = price_json(held);
  return json;
}

}  // namespace

std::string pools_text(const HeldMachinesReport& view, const HeldMachinesService& service,
                       std::size_t width) {
  std::string text;
  for (const Release& release : view.releases)
    text += wrapped_entries(release_text(release, service), width, 0);
  if (view.machines.empty()) {
    const char* nothing = !view.releases.empty() ? "nothing else is held"
                          : view.hidden > 0      ? "no job of Steptune holds machines"
                                                 : "no job holds machines";
    text += wrapped(fmt::format("{} in {}", nothing, view.region), width);
  } else {
    text += pools_table_text(view, service, width) +
            wrapped_entries(sum_text(view, service), width, 0) + advice_text(view, service);
  }
  if (view.hidden > 0) {
    text += fmt::format("{} of others, too: steptune pools --all\n",
                        counted(static_cast<std::ptrdiff_t>(view.hidden), "job", "jobs"));
  }
  return text;
}

Json pools_json(const HeldMachinesReport& view) {
  const Sum sum = sum_of(view.machines);
  Json json = document_json();
  json["region"] = view.region;
  json["prices_of"] = view.prices_date ? Json(*view.prices_date) : Json(nullptr);
  json["machines"] = Json::array();
  for (const HeldMachines& held : view.machines)
    json["machines"].push_back(held_json(held));
  json["usd_per_hour"] = sum.unknown == 0 ? Json(sum.usd_per_hour) : Json(nullptr);
  json["expected_usd_per_hour"] = number_or_null(sum.expected_usd_per_hour);
  json["not_shown"] = view.hidden;
  json["releases"] = Json::array();
  for (const Release& release : view.releases) {
    Json entry = held_json(release.machines);
    entry["outcome"] = k_release_names.name_of(release.outcome);
    json["releases"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace steptune
