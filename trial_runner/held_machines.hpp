// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "trial_runner/cost/price_parts.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// State of a job's machines.
enum class Holding {
  running,   ///< the job is running
  settling,  ///< the job has ended; no other job can use its machines yet
  kept,      ///< idle machines that wait for another trial
};

/// The trial that a job was started for.
struct JobOwner {
  std::string study;  ///< the study's name, cut to the part that the job's name contains
  TrialKey key;
  int launch = 1;
};

/// Machines that a job occupies and pays for. Times are seconds since 1970.
struct HeldMachines {
  std::string job;
  std::optional<JobOwner> owner;  ///< from the job's name; nullopt: not a job of this program
  Holding holding = Holding::running;
  std::string status;  ///< the provider's word: `Training`, `Available`, ...
  Resources resources;
  /// When the job was created, or when idle machines began to wait.
  double since_wall_s = 0.0;
  std::optional<double> retained_s;    ///< seconds kept idle so far, billed for each machine
  std::optional<double> left_s;        ///< seconds until the provider frees them without a request
  std::optional<double> usd_per_hour;  ///< of all machines, on demand; nullopt: no price is known
  /// The price parts that the job's study uses; `usd_per_hour` is then computed from them. If
  /// nullopt, `usd_per_hour` comes from the price table, without the study's discounts and volumes.
  std::optional<PriceParts> study_price{};
  bool spot = false;  ///< spot jobs are billed less than `usd_per_hour`
  /// Share of `usd_per_hour` that the study expects to pay for spot. nullopt: on demand, or
  /// unknown.
  std::optional<double> spot_share{};
  /// Cost since the job's billing began, or since idle machines began to wait, at `usd_per_hour`.
  /// nullopt: no price.
  std::optional<double> usd_so_far;
  /// Machine-hours so far, for providers that have no prices.
  std::optional<double> machine_hours{};
};

enum class ReleaseOutcome {
  released,   ///< given back
  gone,       ///< no machine was idle any more: their time ran out, or a job uses them
  not_ready,  ///< the machines did not become free in time
};

struct Release {
  HeldMachines machines;  ///< as last seen
  ReleaseOutcome outcome = ReleaseOutcome::released;
};

/// Arguments of `steptune pools`.
struct HeldMachinesRequest {
  /// Names of the only jobs to list, even other people's; empty: this program's jobs
  std::vector<std::string> jobs;
  bool all = false;      ///< show other people's jobs, too
  bool release = false;  ///< release idle machines of this program or of the named `jobs`
  std::string region;    ///< empty: the region of the provider's configuration
};

struct HeldMachinesReport {
  std::string region;
  std::optional<std::string> prices_date;  ///< nullopt: no price table for the region
  /// If a price is unknown and there is no price table, the reason; otherwise empty.
  std::string warning;
  double now_wall_s = 0.0;
  /// Machines to show; after a release, those that are still held.
  std::vector<HeldMachines> machines;
  std::size_t hidden = 0;  ///< machines of other people's jobs, not shown
  std::vector<Release> releases;
};

/// Lists and releases machines that a kind of runner keeps after a trial, or after the tuner has
/// ended.
class HeldMachinesService {
 public:
  virtual ~HeldMachinesService() = default;

  /// Returns the help text of `--region`: what a region is, and the default.
  [[nodiscard]] virtual std::string region_help() const = 0;
  /// Returns the name of idle machines, singular or plural: `warm pool`, `warm pools`.
  [[nodiscard]] virtual std::string kept_name(bool several) const = 0;
  /// Returns the command that releases idle machines.
  [[nodiscard]] virtual std::string release_command() const { return "steptune pools --release"; }
  /// Returns a command that ends a job for good. The word JOB in it is a placeholder for the job's
  /// name.
  [[nodiscard]] virtual std::string end_command() const = 0;
  /// Lists machines, and releases idle machines if requested. Uses the network. Waits in real time,
  /// at most half a minute, for machines that are being freed.
  [[nodiscard]] virtual Result<HeldMachinesReport> list(
      const Clock& clock, const HeldMachinesRequest& request) const = 0;
};

}  // namespace steptune
