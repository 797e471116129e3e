// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "trial_runner/cost/price_table.hpp"

namespace steptune {

/// What a provider's own list says.
struct ListedPrices {
  std::map<std::string, InstanceType> instances;  ///< what the list does not tell of one is 0
  std::vector<std::string> ambiguous;  ///< types listed at several prices: the highest counts
};

/// The prices of the machines that a kind of runner rents, by region.
class PriceListService {
 public:
  virtual ~PriceListService() = default;

  /// What the files of its tables begin with (`price_table_name`).
  [[nodiscard]] virtual std::string name() const = 0;
  /// What a region is, and which one is taken, for the help of `--region`.
  [[nodiscard]] virtual std::string region_help() const = 0;
  /// Why `region` cannot be one; empty if it can. It becomes part of a file's name.
  [[nodiscard]] virtual std::string region_fault(const std::string& region) const = 0;
  /// The region that the environment names, else the usual one.
  [[nodiscard]] virtual Result<std::string> default_region() const = 0;
  /// A line about what the prices are for.
  [[nodiscard]] virtual std::string heading() const = 0;
  /// The same as it is written into tables.
  [[nodiscard]] virtual std::string description() const = 0;
  /// What `list` reads, as it is written into tables.
  [[nodiscard]] virtual std::string source() const = 0;
  /// The provider's list as it is now. Asks over the network; waits in real time.
  [[nodiscard]] virtual Result<ListedPrices> list(const Clock& clock,
                                                  const std::string& region) const = 0;
};

}  // namespace steptune
