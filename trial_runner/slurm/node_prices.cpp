// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/node_prices.hpp"

#include <algorithm>
#include <string_view>

namespace steptune::slurm {

std::optional<double> NodePrices::of(const AllocationSpec& requested) const {
  if (usd_) return usd_;
  for (const char* option : {"partition", "constraint", "gres", "gpus-per-node"}) {
    const std::string value = requested.value_of(option).value_or("");
    if (const auto whole = by_name_.find(value); whole != by_name_.end()) return whole->second;
    // Look up the parts of values such as `gpu:a100:4` and `day,night`.
    std::optional<double> highest;
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t end = std::min(rest.find_first_of(":,|&"), rest.size());
      const auto part = by_name_.find(std::string(rest.substr(0, end)));
      if (part != by_name_.end()) highest = std::max(highest.value_or(0.0), part->second);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (highest) return highest;
  }
  return std::nullopt;
}

double NodePrices::highest() const {
  double usd = usd_.value_or(0.0);
  for (const auto& [name, price] : by_name_)
    usd = std::max(usd, price);
  return usd;
}

}  // namespace steptune::slurm
