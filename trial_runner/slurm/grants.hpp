// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

namespace steptune::slurm {

/// Why an allocation was not had, or was of no use.
enum class Setback {
  refused,  ///< Slurm does not grant it
  full,     ///< not for now: this user has as many jobs in the queue as may be
  unclear,  ///< sbatch fails, and there is no job
  unused,   ///< it was granted, and ended before a trial could run in it
};

struct GrantLimits {
  double queue_wait_s = 86'400.0;  ///< the longest that a full queue is waited for
  double outage_s = 900.0;         ///< likewise a sbatch that fails
};

/// What was granted of each kind of allocation, and when it is sensible to ask for one again: a
/// cluster is not asked for what it has just refused, and not without end for what is of no use.
/// Times are those of the runner's clock.
class Grants {
 public:
  explicit Grants(GrantLimits limits) : limits_(limits) {}

  /// `held` others of the kind are held or asked for. Returns why trials of this kind cannot run,
  /// if that is clear now; else they wait, for those that are held or for the next try.
  [[nodiscard]] std::optional<std::string> on_setback(const std::string& kind, Setback setback,
                                                      const std::string& why, int held,
                                                      double now_s);
  /// Asked for and accepted: sbatch works.
  void on_accepted(const std::string& kind);
  /// A trial has started in one.
  void on_used(const std::string& kind);

  /// When one may be asked for; a time that has passed: now.
  [[nodiscard]] double may_ask_at_s(const std::string& kind, int held) const;

 private:
  struct Record {
    Setback setback = Setback::refused;
    int times = 0;  ///< in a row
    double since_s = 0.0;
    double again_at_s = 0.0;
  };

  GrantLimits limits_;
  std::map<std::string, Record> records_;
};

}  // namespace steptune::slurm
