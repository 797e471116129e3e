// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "trial_runner/slurm/need.hpp"

namespace steptune::slurm {

/// USD of a node and hour: one price, or one by the name of a partition, a constraint, or a type of
/// GPU as `gres` and `gpus-per-node` tell it.
class NodePrices {
 public:
  NodePrices() = default;
  explicit NodePrices(double usd) : usd_(usd) {}
  explicit NodePrices(std::map<std::string, double> by_name) : by_name_(std::move(by_name)) {}

  [[nodiscard]] bool are_given() const { return usd_ || !by_name_.empty(); }
  [[nodiscard]] const std::optional<double>& single() const { return usd_; }
  [[nodiscard]] const std::map<std::string, double>& by_name() const { return by_name_; }
  /// Of several names between which Slurm may choose, the highest. Nothing where none is given.
  [[nodiscard]] std::optional<double> of(const Need& need) const;
  /// Of nodes that are not known: at the most. 0 without prices.
  [[nodiscard]] double highest() const;

 private:
  std::optional<double> usd_;
  std::map<std::string, double> by_name_;
};

}  // namespace steptune::slurm
