// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/held_machines.hpp"
#include "trial_runner/price_list_service.hpp"

namespace steptune {

/// Prefix of the names of SageMaker's price tables (`PriceListService::name`).
inline constexpr const char* k_price_list = "sagemaker";

/// Services that query an AWS account without a study, while a user waits. Both give up after a few
/// attempts instead of waiting for the end of an outage.
[[nodiscard]] const HeldMachinesService& account_machines();
[[nodiscard]] const PriceListService& account_price_lists();

}  // namespace steptune
