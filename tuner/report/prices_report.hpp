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

/// A price table and its source.
struct PriceSource {
  PriceTable table;
  std::string file;
  std::string source;  ///< source as stated in the file
};

/// A changed price.
struct PriceChange {
  std::string type;
  double usd_before = 0.0;
  double usd_now = 0.0;
};

struct PriceChanges {
  std::vector<PriceChange> changed;  ///< largest change first, by ratio
  std::vector<std::string> added;
  std::vector<std::string> gone;
};

[[nodiscard]] PriceChanges compare_prices(const PriceTable& before, const PriceTable& now);

/// True if the table has a type whose name contains one of `searched`. Also true if `searched` is
/// empty.
[[nodiscard]] bool has_searched(const PriceTable& prices, const std::vector<std::string>& searched);

/// Returns a table of the types whose names contain one of `searched`; all types if `searched` is
/// empty. Here and below, text beside a table is wrapped at `width` columns (0: no limit).
[[nodiscard]] std::string prices_text(const PriceSource& prices, const PriceListService& service,
                                      const std::vector<std::string>& searched, std::size_t width);
[[nodiscard]] Json prices_json(const PriceSource& prices, const PriceListService& service,
                               const std::vector<std::string>& searched);

/// Prices of the same types in several regions.
struct RegionPrices {
  struct Type {
    std::string name;
    /// Price in each region; nullopt if the region's table does not have the type.
    std::vector<std::optional<double>> usd_per_hour;
    std::size_t cheapest = 0;  ///< index of the first region with the lowest price
  };
  std::vector<PriceSource> regions;  ///< in the requested order
  std::vector<Type> types;           ///< in order of name
};

/// Compares the prices of all types whose names contain one of `searched` (all types if it is
/// empty).
[[nodiscard]] RegionPrices compare_regions(std::vector<PriceSource> regions,
                                           const std::vector<std::string>& searched);
/// Returns a row for each type with its price in each region. If the prices differ, `*` marks the
/// lowest one. Regions that do not fit into `width` columns follow in further tables.
[[nodiscard]] std::string regions_text(const RegionPrices& prices, const PriceListService& service,
                                       std::size_t width);
[[nodiscard]] Json regions_json(const RegionPrices& prices);

/// Returns the differences between a refreshed table and `before` (null: there was none).
[[nodiscard]] std::string refresh_text(const PriceSource& now, const PriceSource* before,
                                       const std::vector<std::string>& ambiguous,
                                       std::size_t width);
[[nodiscard]] Json refresh_json(const PriceSource& now, const PriceSource* before,
                                const std::vector<std::string>& ambiguous);

/// Returns a table in the format of `read_price_table`.
[[nodiscard]] Json price_table_json(const PriceSource& prices, const PriceListService& service);

}  // namespace steptune
