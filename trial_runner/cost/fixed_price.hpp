// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/document/section.hpp"
#include "trial_runner/runner_kind.hpp"

namespace steptune {

/// What a study says that its machines cost, whatever the configuration.
struct FixedPrice {
  std::optional<double> usd_per_hour;  ///< of one machine
  double machines = 1.0;               ///< that the planned run pays for

  /// Where one machine is shared by `parallel` trials, each of which pays its part of it. The
  /// planned run pays for all machines.
  [[nodiscard]] std::optional<HourlyPrice> of_share(int parallel) const {
    if (!usd_per_hour) return std::nullopt;
    return HourlyPrice{*usd_per_hour * machines, *usd_per_hour / parallel};
  }
};

/// `price_per_hour` and `instances` as keys of a runner's section.
[[nodiscard]] document::Key<FixedPrice> price_per_hour_key();
[[nodiscard]] document::Key<FixedPrice> machines_key();

/// `, $1.21 per hour x 2 instances`, or nothing: for people.
[[nodiscard]] std::string text_of(const FixedPrice& price);

}  // namespace steptune
