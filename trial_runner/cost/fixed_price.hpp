// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/document/section.hpp"
#include "trial_runner/runner_kind.hpp"

namespace steptune {

/// Price of machines, if the study states one price for all configurations.
struct FixedPrice {
  std::optional<double> usd_per_hour;  ///< price of one machine
  double machines = 1.0;               ///< number of machines that the planned run pays for

  /// Returns the hourly prices of the planned run and of a trial; nullopt without a price.
  /// `parallel` trials share one machine, and each pays an equal part of its price. The planned run
  /// pays for all machines.
  [[nodiscard]] std::optional<HourlyPrice> of_share(int parallel) const {
    if (!usd_per_hour) return std::nullopt;
    return HourlyPrice{*usd_per_hour * machines, *usd_per_hour / parallel};
  }
};

/// Returns the keys `price_per_hour` and `instances` of a runner's section.
[[nodiscard]] document::Key<FixedPrice> price_per_hour_key();
[[nodiscard]] document::Key<FixedPrice> machines_key();

/// Formats `, $1.21 per hour x 2 instances` for people; empty without a price.
[[nodiscard]] std::string text_of(const FixedPrice& price);

}  // namespace steptune
