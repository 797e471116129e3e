// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/document/section.hpp"
#include "common/error.hpp"
#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/instances/rented_instances.hpp"

namespace steptune {

/// Returns the keys `instance_type`, `instance_count`, `instance_groups`, `prices`, `price_table`
/// and `discounts` of a runner's section.
[[nodiscard]] const std::vector<document::Key<RentedInstances>>& instance_keys();

/// Adds a fault if keys of `instance_keys` contradict each other. Call this after all keys are read
/// and the price list is set. If a price is only a number, adds the machine's data from the price
/// table.
void check_instance_keys(const document::ObjectNode& section, RentedInstances& instances);

/// Returns the section for one instance type in `prices`: its price in USD per hour and data of the
/// machine.
[[nodiscard]] const document::Section<InstanceType>& instance_price_section();
[[nodiscard]] const document::Section<RentedGroup>& instance_group_section();

/// Reads the price table that `instances` names. If none is named, reads the table of the price
/// list and region (us-east-1 by default).
[[nodiscard]] Result<PriceTable> price_table_of(const RentedInstances& instances);

}  // namespace steptune
