// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/json.hpp"
#include "trial_runner/cost/price_parts.hpp"
#include "trial_runner/resources.hpp"

namespace steptune {

/// Variable in a job's `Environment` that contains its `JobPrice`. The name is persistent, because
/// jobs outlive the tuner that started them.
inline constexpr const char* k_price_variable = "STEPTUNE_PRICE";

/// The study's price for an hour of all machines of a job. The job contains the price, so that a
/// list of an account's machines needs neither study file nor history.
struct JobPrice {
  PriceParts parts;
  /// Expected price of managed spot as a share of `parts.usd()`; nullopt: on demand.
  std::optional<double> spot_share{};
  friend bool operator==(const JobPrice&, const JobPrice&) = default;
};

/// Sums the price parts of `resources`; nullopt if `by_type` lacks an instance type.
[[nodiscard]] std::optional<PriceParts> price_parts_of(
    const std::map<std::string, PriceParts>& by_type, const Resources& resources);

/// Returns the variable's value, which is shorter than the service's limit of 512 characters.
[[nodiscard]] std::string to_text(const JobPrice& price);
/// Reads the price from a job's `Environment`; nullopt if it is absent or invalid.
[[nodiscard]] std::optional<JobPrice> job_price_of(const Json& environment);

}  // namespace steptune
