// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "trial_runner/notices.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/unused_time.hpp"

namespace steptune {

/// Second interface of runners that keep machines between trials: rented instances with warm pools,
/// or allocations of a cluster. Such machines cost money between trials, too, and their trials
/// continue after the tuner has ended. The object has the runner's lifetime; only the runner's
/// thread may use it.
class MachineHolder {
 public:
  /// False if the runner keeps no machines and trials end with the tuner. The other functions then
  /// do nothing. They return empty or zero results; `trials_in_turn` returns 1.
  [[nodiscard]] virtual bool holds_machines() const { return true; }

  /// Returns the number of trials that the loop may hand over, running and waiting trials together.
  /// At least the runner's `capacity`; more if the runner can save money by choosing the order.
  /// Temporarily larger while trials wait for other machines than the next trials need.
  [[nodiscard]] virtual int backlog() const = 0;

  /// Returns the number of further trials that would start as soon as machines are available, if
  /// they were handed over now. Includes trials that one job would run one after the other. For a
  /// searcher that learns from each trial, the loop hands over no more trials than this.
  [[nodiscard]] virtual int open_places() const = 0;

  /// Returns the number of trials with equal machines that one job runs one after the other. 1:
  /// each trial has a separate job.
  [[nodiscard]] virtual int trials_in_turn() const = 0;

  /// Returns seconds until a trial on `resources` would start if it were handed over now. Considers
  /// warm machines and waiting trials. If several trials will share one start, returns this trial's
  /// share of that time. Infinite if waiting trials will use all machines first.
  [[nodiscard]] virtual double expected_start_s(const Resources& resources) const = 0;

  /// Returns the trials that wait for a machine because of a queue, a quota or the provider's
  /// capacity. Nobody knows how long they will wait. They cost nothing. `Runner::stop` ends them at
  /// once.
  [[nodiscard]] virtual std::vector<TrialKey> trials_without_machine() const = 0;

  /// Announces that at most `further_trials` more trials will be handed over. The runner then
  /// releases machines that these trials cannot need. Without this call, the runner expects any
  /// number of trials.
  virtual void expect_at_most(std::int64_t further_trials) = 0;

  /// Releases all machines kept for further trials. Call this after the last trial. Waits at most
  /// `longest_s` seconds (runner's clock) for machines that are still stopping. A notice names the
  /// machines that remain after that. Drops events of trials that end during this wait.
  [[nodiscard]] virtual Result<void> release(double longest_s) = 0;

  /// Lets running trials continue without the tuner: reports no further events, drops trials that
  /// wait for a machine, and releases machines without a trial. Returns a text for people that says
  /// what continues to cost money. The caller may only destroy the runner afterwards.
  [[nodiscard]] virtual Result<std::string> detach() = 0;

  /// Returns machine time that no trial's outcome includes: machines that were paid for and unused.
  /// A period that has not ended is returned again by later calls, each time with its cost since
  /// the last call.
  [[nodiscard]] virtual std::vector<UnusedTime> take_unused() = 0;

  /// Returns the notices for the user since the last call, in order.
  [[nodiscard]] virtual std::vector<Notice> take_notices() = 0;

 protected:
  MachineHolder() = default;
  MachineHolder(const MachineHolder&) = default;
  MachineHolder& operator=(const MachineHolder&) = default;
  ~MachineHolder() = default;  // not virtual: the owner destroys the object through `Runner`
};

}  // namespace steptune
