// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "trial_runner/slurm/allocation_spec.hpp"

namespace steptune::slurm {

/// Price of a node-hour in USD: one price for all nodes, or prices by name. A name is a partition,
/// a constraint, or a GPU type in `gres` or `gpus-per-node`.
class NodePrices {
 public:
  NodePrices() = default;
  explicit NodePrices(double usd) : usd_(usd) {}
  explicit NodePrices(std::map<std::string, double> by_name) : by_name_(std::move(by_name)) {}

  [[nodiscard]] bool are_given() const { return usd_ || !by_name_.empty(); }
  [[nodiscard]] const std::optional<double>& single() const { return usd_; }
  [[nodiscard]] const std::map<std::string, double>& by_name() const { return by_name_; }
  /// Returns the price of a node-hour for an allocation spec. If the spec lets Slurm choose among
  /// priced names, returns the highest price. nullopt if there is no price for the spec.
  [[nodiscard]] std::optional<double> of(const AllocationSpec& requested) const;
  /// Returns the price for unknown nodes: the highest one. 0 without prices.
  [[nodiscard]] double highest() const;

 private:
  std::optional<double> usd_;
  std::map<std::string, double> by_name_;
};

}  // namespace steptune::slurm
