// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "trial_runner/slurm/slurm_options.hpp"

namespace steptune::slurm {

/// Reason why an allocation was not granted, or could not be used.
enum class Setback {
  refused,  ///< Slurm refuses the request
  full,     ///< refused for now: the queue accepts no more jobs of this user
  unclear,  ///< sbatch failed without a clear answer, so the job may exist
  unused,   ///< it was granted, but ended before a trial could run in it
};

/// Decides when an allocation of a kind may be requested again after a setback. Refused requests
/// are repeated only after a delay. If allocations of a kind end unused, requests it only a few
/// more times. Waits at most `queue_wait_s` for a place in a full queue, and at most
/// `longest_outage_s` while sbatch fails. Times are on the runner's clock.
class RequestBackoff {
 public:
  /// `options` outlives the object.
  explicit RequestBackoff(const SlurmOptions& options) : options_(options) {}

  /// Records a setback. `held` is the number of other allocations of the kind, held or requested.
  /// Returns the reason if the runner must give up trials of this kind. nullopt: they wait for such
  /// an allocation or for the next request.
  [[nodiscard]] std::optional<std::string> on_setback(const std::string& kind, Setback setback,
                                                      const std::string& why, int held,
                                                      double now_s);
  /// Records that sbatch has accepted a request, so the queue has a place and sbatch works.
  void on_accepted(const std::string& kind);
  /// Records that a trial has started in an allocation of this kind.
  void on_used(const std::string& kind);

  /// Returns the earliest time of the next request; a past time means now.
  [[nodiscard]] double may_ask_at_s(const std::string& kind, int held) const;

 private:
  struct Record {
    Setback setback = Setback::refused;
    int times = 0;  ///< setbacks of this kind in a row
    double since_s = 0.0;
    double again_at_s = 0.0;
  };

  const SlurmOptions& options_;
  std::map<std::string, Record> records_;
};

}  // namespace steptune::slurm
