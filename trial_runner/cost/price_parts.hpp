// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// What the on-demand price of machines is made up of, USD per hour.
struct PriceParts {
  double list_usd = 0.0;      ///< of the instances, as a price list or a study states it
  double discount_usd = 0.0;  ///< of that not paid: Savings Plans, reserved or negotiated rates
  double volume_usd = 0.0;    ///< of their storage volumes, in addition

  /// That is paid.
  [[nodiscard]] constexpr double usd() const { return list_usd - discount_usd + volume_usd; }
  friend bool operator==(const PriceParts&, const PriceParts&) = default;
};

}  // namespace steptune
