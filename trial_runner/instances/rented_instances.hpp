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

/// Equal instances that a trial rents, as functions of its configuration.
struct RentedGroup {
  std::string name{};  ///< in a heterogeneous cluster, else empty
  document::StringTemplate type = document::StringTemplate::parse("").value();
  document::Formula count = document::Formula::constant(1.0, "1");
};

/// The instances that a study's trials rent, and what they cost: the keys `instance_type`,
/// `instance_count`, `instance_groups`, `prices`, `price_table` and `discounts` of a runner's
/// section.
struct RentedInstances {
  std::vector<RentedGroup> groups;  ///< none: trials rent nothing
  /// Of every type that a configuration can ask for: what the study states, else the price table's.
  std::map<std::string, InstanceType> prices;
  /// Share of the list price that is not paid, by instance type or pattern (`ml.g5.*`, as
  /// fnmatch(3) matches): Savings Plans, reserved or negotiated rates. The longest that matches
  /// counts.
  std::map<std::string, double> discounts;
  /// Of the disk of each instance that has one to pay for (`has_own_disk`).
  double storage_usd_per_hour = 0.0;
  std::filesystem::path price_table;  ///< the file of one; empty: that of list and region
  std::string price_list;             ///< `PriceListService::name`; the kind's to set
  std::string region;                 ///< empty: us-east-1

  /// The instances of one configuration: groups without any are left out, and a single group that
  /// remains is an ordinary cluster. A count that is no whole number in range becomes 0, which no
  /// runner accepts.
  [[nodiscard]] Resources resources_of(const Configuration& configuration) const;
  /// What an hour of one instance costs, by type.
  [[nodiscard]] std::map<std::string, PriceParts> price_parts() const;
  /// `prices` with what is paid per hour: less discounts, with storage.
  [[nodiscard]] std::map<std::string, InstanceType> paid() const;
  /// USD per hour that is paid, on demand. Every type that is asked for must have its price.
  [[nodiscard]] double usd_per_hour(const Configuration& configuration) const;

  /// Names of parameters and facts that counts mention.
  [[nodiscard]] std::set<std::string> names_in_counts() const;
  /// Names of parameters that types mention.
  [[nodiscard]] std::set<std::string> names_in_types() const;
  /// Every set of machines that a configuration can ask for, each once; nothing if too many
  /// combinations of values decide it.
  [[nodiscard]] std::optional<std::vector<Resources>> choices(const StudyView& study) const;

  /// `trainer: {instance}, helpers: ml.c5.4xlarge x helpers`
  [[nodiscard]] std::string text() const;
};

/// Whether SageMaker's instances of this type come with NVMe disks: they get no storage volume, and
/// none is billed (Amazon SageMaker Developer Guide, "Amazon SageMaker Training Storage Folders").
/// By the name: a `d` after the generation (`ml.g4dn.xlarge`, `ml.p4d.24xlarge`), or a family that
/// always has them (`g5`, `g6`, `gr6`, `p5`, `trn1`).
[[nodiscard]] bool has_own_disk(const std::string& instance_type);

/// Gives every instance type that a configuration can ask for its price: the study's own, else the
/// price table's. Faults: templates and counts that yield no machines somewhere in the space, and
/// types without a price. Counts that more than 512 combinations decide are left to the trials.
/// Returns whether all is well.
bool resolve_prices(RentedInstances& instances, const StudyView& study, document::Faults& faults);

/// `document` with the prices that a study was begun with, but for those that its file states: a
/// table that has become newer does not make it another study.
[[nodiscard]] Json with_stored_prices(Json document, const Json& stored, const Json& written);

/// The line that tells what instances cost by type, and what the baseline costs. `note` is added.
[[nodiscard]] SummaryLine prices_line(const RentedInstances& instances, double baseline_usd,
                                      const std::string& note);

/// What is known of the machines that a section asks for: `cpus`, `gpus` and `memory_gb` where all
/// instances are of one type that is named without placeholder, as prices or price table describe
/// it.
[[nodiscard]] RemoteMachine instance_facts(const Json& section, const std::filesystem::path& folder,
                                           const std::string& price_list);

}  // namespace steptune
