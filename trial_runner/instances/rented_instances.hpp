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

/// A group of equal instances that a trial rents. The trial's configuration determines their type
/// and number.
struct RentedGroup {
  std::string name{};  ///< name in a heterogeneous cluster; otherwise empty
  document::StringTemplate type = document::StringTemplate::parse("").value();
  document::Formula count = document::Formula::constant(1.0, "1");
};

/// The instances that a study's trials rent, and their prices: the keys `instance_type`,
/// `instance_count`, `instance_groups`, `prices`, `price_table` and `discounts` of a runner's
/// section.
struct RentedInstances {
  std::vector<RentedGroup> groups;  ///< empty: trials rent nothing
  /// Prices by instance type, from the study file. `resolve_prices` adds the price table's prices
  /// of further types that configurations can request.
  std::map<std::string, InstanceType> prices;
  /// Discounts as shares of the list price (Savings Plans, reserved or negotiated rates). Each key
  /// is an instance type or a pattern (`ml.g5.*`, as for fnmatch(3)). An exact name applies first,
  /// then the longest matching pattern.
  std::map<std::string, double> discounts;
  /// Price of one instance's storage volume. Instances with their own disk (`has_own_disk`) get
  /// none.
  double storage_usd_per_hour = 0.0;
  /// Path of a price table. Empty: the price table of `price_list` and `region` is used.
  std::filesystem::path price_table;
  std::string price_list;  ///< `PriceListService::name`; set by the kind of runner
  std::string region;      ///< empty: us-east-1

  /// Returns the instances of one configuration. Leaves out empty groups. A single remaining group
  /// becomes an ordinary cluster. An invalid count becomes 0; `resolve_prices` adds a fault for it.
  [[nodiscard]] Resources resources_of(const Configuration& configuration) const;
  /// Returns the price of an instance-hour by type.
  [[nodiscard]] std::map<std::string, PriceParts> price_parts() const;
  /// Returns `prices` minus discounts plus the price of storage volumes.
  [[nodiscard]] std::map<std::string, InstanceType> paid() const;
  /// Returns the on-demand price to pay, USD per hour. All requested types must have a price.
  [[nodiscard]] double usd_per_hour(const Configuration& configuration) const;

  /// Returns the names of parameters and facts in the groups' `count` formulas.
  [[nodiscard]] std::set<std::string> names_in_counts() const;
  /// Returns the names of parameters in the groups' `type` templates.
  [[nodiscard]] std::set<std::string> names_in_types() const;
  /// Returns all different sets of machines that configurations can request. nullopt if the
  /// machines depend on more than 512 combinations of parameter values.
  [[nodiscard]] std::optional<std::vector<Resources>> choices(const StudyView& study) const;

  /// Formats `trainer: {instance}, helpers: ml.c5.4xlarge x helpers`.
  [[nodiscard]] std::string text() const;
};

/// True if SageMaker's instances of this type have NVMe disks. SageMaker gives them no storage
/// volume and bills none (Amazon SageMaker Developer Guide, "Amazon SageMaker Training Storage
/// Folders"). Decides by the name: a `d` after the generation (`ml.g4dn.xlarge`,
/// `ml.p4d.24xlarge`), or a family that always has them (`g5`, `g6`, `gr6`, `p5`, `trn1`).
[[nodiscard]] bool has_own_disk(const std::string& instance_type);

/// Sets the price of every instance type that a configuration can request: the study's own price,
/// otherwise the price table's. Adds a fault if a configuration gives no type or no valid count,
/// and for each type without a price. Also adds a fault if the types depend on more than 512
/// combinations of parameter values. If types and counts together depend on more than 512, checks
/// only the baseline's counts. Returns true if there are no faults.
bool resolve_prices(RentedInstances& instances, const StudyView& study, document::Faults& faults);

/// Returns `document` with the prices that were `stored` when the study began, in place of the
/// current price table's. Keeps prices that the study file states (`written`). So a newer price
/// table does not change the study's fingerprint.
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
