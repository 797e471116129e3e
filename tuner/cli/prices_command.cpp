// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/price_list_service.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/kind_option.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/prices_report.hpp"

namespace steptune {
namespace {

struct PricesOptions {
  std::vector<std::string> searched;
  std::string kind;
  std::vector<std::string> regions;  ///< if empty, the provider's default region
  std::string output;
};

const PriceListService& service_of(const PricesOptions& options) {
  return *find_runner_kind(options.kind)->price_lists();
}

/// Returns the regions of `--region`. Without this option, returns the provider's default region.
Result<std::vector<std::string>> regions_of(const PricesOptions& options) {
  const PriceListService& service = service_of(options);
  if (options.regions.empty()) {
    const auto region = service.default_region();
    if (!region) return tl::unexpected(region.error());
    return std::vector{*region};
  }
  for (const std::string& region : options.regions) {
    const std::string fault = service.region_fault(region);
    if (!fault.empty()) return fail(ErrorKind::usage, fault, "--region");
    if (std::ranges::count(options.regions, region) > 1) {
      return fail(ErrorKind::usage, fmt::format("{} is named twice", region), "--region");
    }
  }
  return options.regions;
}

Result<PriceSource> read_source(const std::filesystem::path& file) {
  const auto json = read_json_file(file);
  if (!json) return tl::unexpected(json.error());
  auto table = price_table_from_json(*json, file.string());
  if (!table) return tl::unexpected(table.error());
  const auto source = json->find("source");
  const bool has_source = source != json->end() && source->is_string();
  return PriceSource{*std::move(table), file.string(),
                     has_source ? source->get<std::string>() : ""};
}

Result<PriceSource> used_table(const PricesOptions& options, const std::string& region) {
  const auto file = find_price_table_file(service_of(options).name(), region);
  if (!file) return tl::unexpected(file.error());
  return read_source(*file);
}

ExitCode show_prices(CommandContext& context, const PricesOptions& options) {
  const auto regions = regions_of(options);
  if (!regions) return context.console.error(regions.error());
  std::vector<PriceSource> tables;
  for (const std::string& region : *regions) {
    auto table = used_table(options, region);
    if (!table) return context.console.error(table.error());
    tables.push_back(*std::move(table));
  }
  if (std::ranges::none_of(tables, [&](const PriceSource& prices) {
        return has_searched(prices.table, options.searched);
      })) {
    return context.console.error({ErrorKind::usage,
                                  fmt::format("no instance type has \"{}\" in its name",
                                              fmt::join(options.searched, "\" or \"")),
                                  {},
                                  "'steptune prices' shows all types"});
  }
  const std::size_t width = context.console.stdout_width();
  if (tables.size() > 1) {
    const RegionPrices compared = compare_regions(tables, options.searched);
    return context.print([&] { return regions_json(compared); },
                         [&] { return regions_text(compared, service_of(options), width); });
  }
  const PriceSource* prices = &tables.front();
  return context.print(
      [&] { return prices_json(*prices, service_of(options), options.searched); },
      [&] { return prices_text(*prices, service_of(options), options.searched, width); });
}

Result<std::filesystem::path> output_file(const PricesOptions& options, const std::string& region) {
  if (!options.output.empty()) return options.output;
  const auto directory = user_price_directory();
  if (!directory) {
    return fail(ErrorKind::usage, "there is no home directory to keep the table in", {},
                "set HOME or XDG_DATA_HOME, or name a file with --output");
  }
  return *directory / price_table_name(service_of(options).name(), region);
}

/// Copies facts about machines from the previous table `before`, if the provider's list does not
/// have these facts.
void add_known_facts(PriceTable& table, const PriceTable& before) {
  for (auto& [name, type] : table.instances) {
    const auto known = before.instances.find(name);
    if (known == before.instances.end()) continue;
    if (type.vcpus == 0) type.vcpus = known->second.vcpus;
    if (type.memory_gib == 0.0) type.memory_gib = known->second.memory_gib;
    if (type.gpus == 0) type.gpus = known->second.gpus;
  }
}

ExitCode refresh_prices(CommandContext& context, const PricesOptions& options) {
  const auto regions = regions_of(options);
  if (!regions) return context.console.error(regions.error());
  if (regions->size() > 1) {
    return context.console.error({ErrorKind::usage, "one region's prices are read at a time",
                                  "--region", "refresh them one at a time"});
  }
  const std::string* region = &regions->front();
  const auto file = output_file(options, *region);
  if (!file) return context.console.error(file.error());
  const auto before = used_table(options, *region);
  const PriceListService& service = service_of(options);
  auto listed = service.list(context.clock, *region);
  if (!listed) return context.console.error(listed.error());
  PriceSource now;
  now.table.region = *region;
  now.table.date = format_utc(context.clock.wall_time_s()).substr(0, 10);
  now.table.instances = std::move(listed->instances);
  now.file = file->string();
  now.source = service.source();
  if (before) add_known_facts(now.table, before->table);
  const std::string text = dump_json(price_table_json(now, service), 2) + "\n";
  if (auto written = write_whole_file(*file, text); !written) {
    return context.console.error(written.error());
  }
  const PriceSource* former = before ? &*before : nullptr;
  return context.print(
      [&] { return refresh_json(now, former, listed->ambiguous); },
      [&] { return refresh_text(now, former, listed->ambiguous, context.console.stdout_width()); });
}

void add_machine_options(CLI::App& command, PricesOptions& options) {
  const auto kinds = kinds_that_offer(&RunnerKind::price_lists);
  add_kind_option(command, kinds, options.kind);
  add_value_option(command, "--region", options.regions, "REGION",
                   kinds.front()->price_lists()->region_help())
      ->allow_extra_args(false);
}

}  // namespace

void add_prices_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<PricesOptions>(
      program, context, "prices", "Show what rented machines cost, and renew the table",
      "  steptune prices g5 p4d\n"
      "  steptune prices --region us-east-1 --json\n"
      "  steptune prices g5 --region us-east-1 --region eu-west-1\n"
      "  steptune prices refresh",
      show_prices);
  command
      ->add_option("TYPE", options->searched,
                   "Only types whose names contain one of these [default: all]")
      ->option_text("[TYPE]...");
  add_machine_options(*command, *options);
  add_json_option(*command, context);
  CLI::App* refresh = add_command(
      *command, context, "refresh",
      "Read the provider's price list and keep it as this user's table",
      "  steptune prices refresh --region eu-west-1",
      [given = options](CommandContext& within) { return refresh_prices(within, *given); });
  add_machine_options(*refresh, *options);
  add_value_option(
      *refresh, "--output", options->output, "FILE",
      fmt::format("File to write [default: {} in ~/.local/share/steptune/prices, where "
                  "it is found again]",
                  price_table_name(service_of(*options).name(), "REGION")));
  add_json_option(*refresh, context);
}

}  // namespace steptune
