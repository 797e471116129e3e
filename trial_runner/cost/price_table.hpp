// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "trial_runner/resources.hpp"

namespace steptune {

/// An instance type in a price table. The value 0 means unknown.
struct InstanceType {
  double usd_per_hour = 0.0;
  int vcpus = 0;
  double memory_gib = 0.0;
  int gpus = 0;
};

/// Returns the rented groups with their counts. An ordinary cluster gives one group without a name.
[[nodiscard]] std::vector<InstanceGroup> rented_groups(const Resources& resources);

/// Returns USD per hour of all machines together. If `instances` lacks a type, the error names a
/// similar type, if there is one, and how to add a price. All prices in `instances` must be known,
/// because the price 0 would count as free.
[[nodiscard]] Result<double> usd_per_hour(const std::map<std::string, InstanceType>& instances,
                                          const Resources& resources);

/// A dated table of instance prices in one region (`configs/prices/`).
struct PriceTable {
  std::string region;
  std::string date;
  std::map<std::string, InstanceType> instances;  ///< by name, such as `ml.g5.xlarge`

  /// Returns the total price according to this table. Errors name the table.
  [[nodiscard]] Result<double> usd_per_hour(const Resources& resources) const;
};

/// Reads a table. Errors name the file and the JSON pointer.
[[nodiscard]] Result<PriceTable> read_price_table(const std::filesystem::path& file);
[[nodiscard]] Result<PriceTable> price_table_from_json(const Json& json, const std::string& where);

/// Returns the directory of this user's own price tables: `$XDG_DATA_HOME/steptune/prices`, by
/// default under `~/.local/share`. A table there replaces an installed table of the same name.
/// nullopt if neither that variable nor a home folder is set.
[[nodiscard]] std::optional<std::filesystem::path> user_price_directory();

/// Returns the directories to search for price tables, in order of precedence. These are the
/// directories in `STEPTUNE_PRICE_PATH` (separated by colons), `user_price_directory`, and the
/// installed directories (common/shipped_files.hpp).
[[nodiscard]] std::vector<std::filesystem::path> price_table_directories();

/// Finds the first table for a price list (`PriceListService::name`) and region. If there is none,
/// the error names the searched directories and how to get a table.
[[nodiscard]] Result<PriceTable> find_price_table(const std::string& list,
                                                  const std::string& region);
[[nodiscard]] Result<std::filesystem::path> find_price_table_file(const std::string& list,
                                                                  const std::string& region);

/// Returns `LIST-REGION.json`.
[[nodiscard]] std::string price_table_name(const std::string& list, const std::string& region);

}  // namespace steptune
