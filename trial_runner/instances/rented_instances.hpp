// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "common/document/node.hpp"
#include "trial_runner/cost/price_parts.hpp"
#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/runner_kind.hpp"

namespace steptune {

/// A group of equal instances that a trial rents. Their type and number are functions of the
/// trial's configuration.
struct RentedGroup {
  std::string name{};  ///< in a heterogeneous cluster; otherwise empty
  document::StringTemplate type = document::StringTemplate::parse("").value();
  document::Formula count = document::Formula::constant(1.0, "1");
};

/// The instances that a study's trials rent, and their prices: the keys `instance_type`,
/// `instance_count`, `instance_groups`, `prices`, `price_table` and `discounts` of a runner's
/// section.
struct RentedInstances {
  std::vector<RentedGroup> groups;  ///< empty: trials rent nothing
  /// Prices by type, as the study gives them. For further types that a configuration can request,
  /// `resolve_prices` adds the price table's prices.
  std::map<std::string, InstanceType> prices;
  /// Share of the list price that is not paid (Savings Plans, reserved or negotiated rates). The
  /// key is an instance type or a pattern (`ml.g5.*`, as for fnmatch(3)). The longest matching
  /// pattern applies.
  std::map<std::string, double> discounts;
  /// Disk price of each instance that needs a volume (not `has_own_disk`).
  double storage_usd_per_hour = 0.0;
  /// Path of a price table. Empty: the price table of `price_list` and `region` is used.
  std::filesystem::path price_table;
  std::string price_list;  ///< `PriceListService::name`; set by the kind of runner
  std::string region;      ///< empty: us-east-1

  /// Returns the instances of one configuration. Leaves out empty groups; a single remaining group
  /// is an ordinary cluster. A count that is not a whole number in range becomes 0, for which
  /// `resolve_prices` adds a fault.
  [[nodiscard]] Resources resources_of(const Configuration& configuration) const;
  /// Returns the price of an instance-hour by type.
  [[nodiscard]] std::map<std::string, PriceParts> price_parts() const;
  /// Returns `prices` as paid per hour: minus discounts, plus storage.
  [[nodiscard]] std::map<std::string, InstanceType> paid() const;
  /// Returns the on-demand price to pay, USD per hour. All requested types must have a price.
  [[nodiscard]] double usd_per_hour(const Configuration& configuration) const;

  /// Returns the parameters and facts that counts mention.
  [[nodiscard]] std::set<std::string> names_in_counts() const;
  /// Returns the parameters that types mention.
  [[nodiscard]] std::set<std::string> names_in_types() const;
  /// Returns each set of machines that a configuration can request. Returns nullopt if more than
  /// 512 combinations of parameter values decide the machines.
  [[nodiscard]] std::optional<std::vector<Resources>> choices(const StudyView& study) const;

  /// Formats `trainer: {instance}, helpers: ml.c5.4xlarge x helpers`.
  [[nodiscard]] std::string text() const;
};

/// True if SageMaker's instances of this type have NVMe disks. They get no storage volume, and none
/// is billed (Amazon SageMaker Developer Guide, "Amazon SageMaker Training Storage Folders").
/// Judged by the name: a `d` after the generation (`ml.g4dn.xlarge`, `ml.p4d.24xlarge`), or a
/// family that always has them (`g5`, `g6`, `gr6`, `p5`, `trn1`).
[[nodiscard]] bool has_own_disk(const std::string& instance_type);

/// Sets the price of every instance type that a configuration can request: the study's own price,
/// otherwise the price table's. Adds a fault if some configuration gives no type or no valid count,
/// and for each type without a price. Adds a fault if more than 512 combinations of values decide
/// the types. If more than 512 decide types and counts together, checks only the baseline's counts.
/// Returns true if there are no faults.
bool resolve_prices(RentedInstances& instances, const StudyView& study, document::Faults& faults);

/// Returns `document` with the price table's prices as `stored` when the study began. Keeps prices
/// that the study file states (`written`). So a newer price table does not change the study's
/// fingerprint.
[[nodiscard]] Json with_stored_prices(Json document, const Json& stored, const Json& written);

/// Returns a line for `check`: the price of each instance type, and the baseline's price, with
/// `note` appended.
[[nodiscard]] SummaryLine prices_line(const RentedInstances& instances, double baseline_usd,
                                      const std::string& note);

/// Returns facts about the machines of a section: `cpus`, `gpus` and `memory_gb`. The facts are
/// known if all instances have one type, and if its name has no placeholder. The section's prices
/// or the price table must describe the type.
[[nodiscard]] RemoteMachine instance_facts(const Json& section, const std::filesystem::path& folder,
                                           const std::string& price_list);

}  // namespace steptune
