// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/price_list_service.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"

namespace steptune {

/// Reads all pages of GetProducts for `region`. `pricing` is the price list service, which runs in
/// few regions but knows all regions. Returns an error for an empty list. Source: AWS Price List
/// API Reference, GetProducts.
[[nodiscard]] Result<ListedPrices> list_training_prices(aws::JsonClient& client,
                                                        const aws::JsonService& pricing,
                                                        const std::string& region);

/// Parses an entry of `PriceList`, which is JSON inside a JSON string, into an instance type and
/// its data. nullopt for other products (hosting, spot, other regions) and for products without an
/// hourly price.
[[nodiscard]] std::optional<std::pair<std::string, InstanceType>> training_price_of(
    const std::string& product, const std::string& region);

}  // namespace steptune
