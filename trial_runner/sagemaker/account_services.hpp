// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/held_machines.hpp"
#include "trial_runner/price_list_service.hpp"

namespace steptune {

/// Prefix of its price tables' names (`PriceListService::name`).
inline constexpr const char* k_price_list = "sagemaker";

/// Queries to an account for a waiting user, without a study. Both give up after a few attempts
/// instead of waiting out an outage.
[[nodiscard]] const HeldMachinesService& account_machines();
[[nodiscard]] const PriceListService& account_price_lists();

}  // namespace steptune
