// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "trial_runner/resources.hpp"

namespace steptune {

/// An instance type, as price tables describe it. 0: not known.
struct InstanceType {
  double usd_per_hour = 0.0;
  int vcpus = 0;
  double memory_gib = 0.0;
  int gpus = 0;
};

/// The groups that are rented, of each as many as it counts: those of a heterogeneous cluster, or
/// the one of the usual type.
[[nodiscard]] std::vector<InstanceGroup> rented_groups(const Resources& resources);

/// USD per hour of all machines together. A type that is not in `instances` is an error that names
/// the nearest one and says how to add a price: an unknown price is never zero.
[[nodiscard]] Result<double> usd_per_hour(const std::map<std::string, InstanceType>& instances,
                                          const Resources& resources);

/// A dated table of what instances cost in one region (`configs/prices/`).
struct PriceTable {
  std::string region;
  std::string date;
  std::map<std::string, InstanceType> instances;  ///< by name, such as `ml.g5.xlarge`

  /// The same by this table, which errors name.
  [[nodiscard]] Result<double> usd_per_hour(const Resources& resources) const;
};

/// Reads a table; errors name the file and the JSON pointer.
[[nodiscard]] Result<PriceTable> read_price_table(const std::filesystem::path& file);
[[nodiscard]] Result<PriceTable> price_table_from_json(const Json& json, const std::string& where);

/// Where tables are looked for, in order: the directories of
/// `STEPTUNE_PRICE_PATH` (separated by colons), the user's own (trial_runner/cost/user_prices.hpp),
/// those that are shipped (common/shipped_files.hpp).
[[nodiscard]] std::vector<std::filesystem::path> price_table_directories();

/// The first table found there of a provider's list (`PriceListService::name`) and a region. None
/// is an error that says where it was looked for and how to get one.
[[nodiscard]] Result<PriceTable> find_price_table(const std::string& list,
                                                  const std::string& region);
[[nodiscard]] Result<std::filesystem::path> find_price_table_file(const std::string& list,
                                                                  const std::string& region);

/// `LIST-REGION.json`.
[[nodiscard]] std::string price_table_name(const std::string& list, const std::string& region);

}  // namespace steptune
