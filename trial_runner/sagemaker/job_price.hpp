// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/json.hpp"
#include "trial_runner/cost/price_parts.hpp"
#include "trial_runner/resources.hpp"

namespace steptune {

/// In a job's `Environment`: its `JobPrice`. Persistent: jobs outlive the program that began them.
inline constexpr const char* k_price_variable = "STEPTUNE_PRICE";

/// What the study that began a job counts for an hour of all its machines. It travels with the job,
/// so that whoever lists what an account holds needs neither study file nor history.
struct JobPrice {
  PriceParts parts;
  /// Of `parts.usd()`, what managed spot is expected to be billed; nothing: on demand.
  std::optional<double> spot_share{};
  friend bool operator==(const JobPrice&, const JobPrice&) = default;
};

/// Of `resources`, by the parts of each instance type; nothing where a type is not among them.
[[nodiscard]] std::optional<PriceParts> price_parts_of(
    const std::map<std::string, PriceParts>& by_type, const Resources& resources);

/// The variable's value, shorter than the service's limit of 512 characters.
[[nodiscard]] std::string to_text(const JobPrice& price);
/// From a job's `Environment`; nothing where there is none, or it is no price.
[[nodiscard]] std::optional<JobPrice> job_price_of(const Json& environment);

}  // namespace steptune
