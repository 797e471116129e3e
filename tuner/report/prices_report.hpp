// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/price_list_service.hpp"

namespace steptune {

/// A price table with where it comes from.
struct PriceSource {
  PriceTable table;
  std::string file;
  std::string source;  ///< as the file says
};

/// A price that is not what it was.
struct PriceChange {
  std::string type;
  double usd_before = 0.0;
  double usd_now = 0.0;
};

struct PriceChanges {
  std::vector<PriceChange> changed;  ///< largest first, by ratio
  std::vector<std::string> added;
  std::vector<std::string> gone;
};

[[nodiscard]] PriceChanges compare_prices(const PriceTable& before, const PriceTable& now);

/// Whether the name of a type of the table contains one of `searched` (true if there are none).
[[nodiscard]] bool has_searched(const PriceTable& prices, const std::vector<std::string>& searched);

/// The table, or those of its types whose names contain one of `searched` (all if there are none).
/// Here and below, what is said beside a table is wrapped to `width` columns (0: no limit).
[[nodiscard]] std::string prices_text(const PriceSource& prices, const PriceListService& service,
                                      const std::vector<std::string>& searched, std::size_t width);
[[nodiscard]] Json prices_json(const PriceSource& prices, const PriceListService& service,
                               const std::vector<std::string>& searched);

/// Prices of the same types in several regions.
struct RegionPrices {
  struct Type {
    std::string name;
    std::vector<std::optional<double>> usd_per_hour;  ///< by region; nothing: not in its table
    std::size_t cheapest = 0;                         ///< the first region with the least price
  };
  std::vector<PriceSource> regions;  ///< in the order that was asked for
  std::vector<Type> types;           ///< by name
};

/// Of every type whose name contains one of `searched` (all if there are none), in any region.
[[nodiscard]] RegionPrices compare_regions(std::vector<PriceSource> regions,
                                           const std::vector<std::string>& searched);
/// A row by type with the price in each region; `*` marks the least, where regions differ. Regions
/// that do not fit into `width` columns follow in further tables.
[[nodiscard]] std::string regions_text(const RegionPrices& prices, const PriceListService& service,
                                       std::size_t width);
[[nodiscard]] Json regions_json(const RegionPrices& prices);

/// What a refreshed table says that `before` (null: there was none) did not.
[[nodiscard]] std::string refresh_text(const PriceSource& now, const PriceSource* before,
                                       const std::vector<std::string>& ambiguous,
                                       std::size_t width);
[[nodiscard]] Json refresh_json(const PriceSource& now, const PriceSource* before,
                                const std::vector<std::string>& ambiguous);

/// A table as `read_price_table` reads it.
[[nodiscard]] Json price_table_json(const PriceSource& prices, const PriceListService& service);

}  // namespace steptune
