// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "common/document/node.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

using document::Node;
using document::ObjectNode;

/// Instances that one trial may ask for.
inline constexpr double k_most_instances = 1000.0;

/// The price table that a runner names, or else the one of its region (us-east-1 where it names
/// none).
[[nodiscard]] Result<PriceTable> price_table_of(const ClusterSpec& cluster,
                                                const std::string& region);

/// `instance_type`, `instance_count`, `instance_groups`, `prices` and `price_table` of a runner.
/// Prices are only those that the study states, of which a bare number takes the machine's size from
/// the table if there is one.
[[nodiscard]] ClusterSpec read_cluster(const ObjectNode& runner, const std::string& region);

/// One instance type's price: USD per hour, or an object with what is known of the machine.
[[nodiscard]] InstanceType read_instance_price(const Node& node, const InstanceType* known);

}  // namespace steptune::study
