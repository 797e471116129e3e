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

/// What a job does with its machines.
enum class Holding {
  running,   ///< the job itself is under way
  settling,  ///< it has ended; its machines are not yet offered to others
  kept,      ///< idle machines that wait for another trial
};

/// The trial that a job was started for.
struct JobOwner {
  std::string study;  ///< as far as the job's name holds it
  TrialKey key;
  int launch = 1;
};

/// Machines that a job holds, and that cost money for it. Times are seconds since 1970.
struct HeldMachines {
  std::string job;
  std::optional<JobOwner> owner;  ///< nothing: not a job of this program
  Holding holding = Holding::running;
  std::string status;  ///< the provider's word: `Training`, ..., or `Available`
  Resources resources;
  double since_wall_s = 0.0;           ///< creation of the job, or begin of the waiting
  std::optional<double> retained_s;    ///< kept so far, billed for each machine
  std::optional<double> left_s;        ///< until they are given back without anybody's asking
  std::optional<double> usd_per_hour;  ///< of all machines, on demand; nothing: no price is known
  /// What the job's study counts for them, which is `usd_per_hour` then; nothing: that is the price
  /// table's, without discounts and volumes, of which only the study knows.
  std::optional<PriceParts> study_price{};
  bool spot = false;  ///< billed for less than it runs: `usd_per_hour` is more than is paid
  /// Of `usd_per_hour`, what the study expects spot to be billed; nothing: on demand, or not known.
  std::optional<double> spot_share{};
  /// Of the job since its billing began, or of the waiting; nothing: no price is known.
  std::optional<double> usd_so_far;
  /// Hours of one machine that they were held so far, where the provider has no prices.
  std::optional<double> machine_hours{};
};

enum class ReleaseOutcome {
  released,   ///< given back
  gone,       ///< nothing was kept any more: it ended, or a job took it
  not_ready,  ///< its machines did not come free in time
};

struct Release {
  HeldMachines machines;  ///< as last seen
  ReleaseOutcome outcome = ReleaseOutcome::released;
};

/// What is asked for: `steptune pools`.
struct HeldMachinesRequest {
  std::vector<std::string> jobs;  ///< only these, whoever started them; none: this program's
  bool all = false;               ///< those of others, too
  bool release = false;           ///< give back what is kept, if it is this program's or was named
  std::string region;             ///< empty: the environment's
};

struct HeldMachinesReport {
  std::string region;
  std::optional<std::string> prices_date;  ///< nothing: there is no table for the region
  std::string warning;                     ///< why prices are not known; empty if all are
  double now_wall_s = 0.0;
  std::vector<HeldMachines> machines;  ///< those to show; after a release, those still held
  std::size_t hidden = 0;              ///< held by others' jobs, not shown
  std::vector<Release> releases;
};

/// Machines that a kind of runner holds beyond a trial, or beyond the tuner's life.
class HeldMachinesService {
 public:
  virtual ~HeldMachinesService() = default;

  /// What a region is, and which one is taken, for the help of `--region`.
  [[nodiscard]] virtual std::string region_help() const = 0;
  /// What kept machines are called, one and several: `warm pool`, `warm pools`.
  [[nodiscard]] virtual std::string kept_name(bool several) const = 0;
  /// The command that gives back what is kept.
  [[nodiscard]] virtual std::string release_command() const { return "steptune pools --release"; }
  /// A command that ends a job for good, in which JOB stands for its name.
  [[nodiscard]] virtual std::string end_command() const = 0;
  /// Finds machines and gives back what is asked for. Asks over the network; waits in real time,
  /// up to half a minute for machines that are being freed.
  [[nodiscard]] virtual Result<HeldMachinesReport> look(
      const Clock& clock, const HeldMachinesRequest& request) const = 0;
};

}  // namespace steptune
