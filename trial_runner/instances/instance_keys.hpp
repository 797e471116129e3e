// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/document/section.hpp"
#include "common/error.hpp"
#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/instances/rented_instances.hpp"

namespace steptune {

/// `instance_type`, `instance_count`, `instance_groups`, `prices`, `price_table` and `discounts`,
/// as keys of a runner's section.
[[nodiscard]] const std::vector<document::Key<RentedInstances>>& instance_keys();

/// What must hold between them, once all are read and the price list is set. Completes prices that
/// are bare numbers with what the price table knows of their machines.
void check_instance_keys(const document::ObjectNode& section, RentedInstances& instances);

/// One instance type's price: USD per hour, or an object with what is known of the machine.
[[nodiscard]] const document::Section<InstanceType>& instance_price_section();
[[nodiscard]] const document::Section<RentedGroup>& instance_group_section();

/// The price table that a section names, or else the one of its list and region (us-east-1 where
/// it names none).
[[nodiscard]] Result<PriceTable> price_table_of(const RentedInstances& instances);

}  // namespace steptune
