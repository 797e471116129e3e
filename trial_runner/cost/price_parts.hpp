// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Parts of the on-demand price of machines, USD per hour.
struct PriceParts {
  double list_usd = 0.0;  ///< price of the instances, from a price list or the study
  /// Discount on `list_usd`: Savings Plans, reserved or negotiated rates.
  double discount_usd = 0.0;
  double volume_usd = 0.0;  ///< price of the storage volumes; `list_usd` excludes them

  /// Returns the price to pay.
  [[nodiscard]] constexpr double usd() const { return list_usd - discount_usd + volume_usd; }
  friend bool operator==(const PriceParts&, const PriceParts&) = default;
};

}  // namespace steptune
