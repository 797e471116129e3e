// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/held_machines.hpp"
#include "trial_runner/price_list_service.hpp"

namespace steptune {

/// What its price tables are called (`PriceListService::name`).
inline constexpr const char* k_price_list = "sagemaker";

/// What somebody who waits asks of an account, without a study: both give up after a few attempts
/// instead of outlasting an outage.
[[nodiscard]] const HeldMachinesService& account_machines();
[[nodiscard]] const PriceListService& account_price_lists();

}  // namespace steptune
