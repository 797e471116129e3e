// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "trial_runner/cost/price_table.hpp"

namespace steptune {

/// Prices from a provider's own list.
struct ListedPrices {
  std::map<std::string, InstanceType> instances;  ///< by name; each has a price
  /// Types that the list has at several prices; the highest is used.
  std::vector<std::string> ambiguous;
};

/// The prices of the machines that a kind of runner rents, by region.
class PriceListService {
 public:
  virtual ~PriceListService() = default;

  /// Returns the prefix of the file names of the price tables made from this list
  /// (`price_table_name`).
  [[nodiscard]] virtual std::string name() const = 0;
  /// Returns the help text of `--region`: what a region is, and the default.
  [[nodiscard]] virtual std::string region_help() const = 0;
  /// Says why `region` is not valid; empty if it is. The region becomes part of a file name.
  [[nodiscard]] virtual std::string region_fault(const std::string& region) const = 0;
  /// Returns the region of the provider's configuration; otherwise the provider's usual region.
  [[nodiscard]] virtual Result<std::string> default_region() const = 0;
  /// Returns a line for people that names the goods that the prices are for.
  [[nodiscard]] virtual std::string heading() const = 0;
  /// Returns the text that tables store as their description.
  [[nodiscard]] virtual std::string description() const = 0;
  /// Returns the origin of the prices, as tables store it.
  [[nodiscard]] virtual std::string source() const = 0;
  /// Downloads the provider's current list. Waits in real time.
  [[nodiscard]] virtual Result<ListedPrices> list(const Clock& clock,
                                                  const std::string& region) const = 0;
};

}  // namespace steptune
