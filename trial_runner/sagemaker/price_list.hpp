// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/price_list_service.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"

namespace steptune {

/// All pages of GetProducts for `region`. `pricing`: the service, which answers in few regions for
/// all of them. None at all is an error. Source: AWS Price List API Reference, GetProducts.
[[nodiscard]] Result<ListedPrices> list_training_prices(aws::JsonClient& client,
                                                        const aws::JsonService& pricing,
                                                        const std::string& region);

/// An entry of `PriceList`, which is JSON within a JSON string: instance type and what is told of
/// it. Nothing for other products (hosting, spot, other regions) and for what has no hourly price.
[[nodiscard]] std::optional<std::pair<std::string, InstanceType>> training_price_of(
    const std::string& product, const std::string& region);

}  // namespace steptune
