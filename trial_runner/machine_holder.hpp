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

/// What a runner offers beside `Runner` whose trials run on machines that it holds: rented
/// instances with warm pools, allocations of a cluster. Such machines are paid for between trials
/// as well, and trials go on there without the tuner. Same thread and lifetime as the runner.
class MachineHolder {
 public:
  /// How many trials may be handed over at the same time, running and waiting together: at least
  /// the runner's `capacity`, more where choosing their order saves money. More for a while where
  /// some wait for what others do not need.
  [[nodiscard]] virtual int backlog() const = 0;

  /// How many trials would begin as soon as machines let if they were handed over now, those that a
  /// job would run in turn included: what a tuner hands over that learns from each. 0: none.
  [[nodiscard]] virtual int open_places() const = 0;

  /// How many trials that need the same machine it runs one after the other without starting anew;
  /// 1: each starts by itself.
  [[nodiscard]] virtual int trials_in_turn() const = 0;

  /// Seconds until a trial on these machines would be under way if it were handed over now. Depends
  /// on what is being kept warm, and on what waits: of a start that several trials will share, its
  /// part. Infinite: others that wait take all machines first.
  [[nodiscard]] virtual double expected_start_s(const Resources& resources) const = 0;

  /// Trials that were handed over and for which there is no machine: they wait in a queue, for
  /// quota or capacity, and no end is in sight. Nothing is paid for them; `Runner::stop` ends them
  /// at once.
  [[nodiscard]] virtual std::vector<TrialKey> trials_without_machine() const = 0;

  /// At most this many trials will still be handed over, beside those that were: what they cannot
  /// need is given back early. Without a call any number is expected.
  virtual void expect_at_most(std::int64_t further_trials) = 0;

  /// Gives back all that is kept for further trials. To be called once none will follow. Waits for
  /// machines that are still being stopped, at most `longest_s` of the runner's clock; a notice
  /// tells what is left then. Events of trials that end meanwhile are dropped.
  [[nodiscard]] virtual Result<void> release(double longest_s) = 0;

  /// Leaves all trials to themselves: no further events, and what waits for a machine is forgotten.
  /// Machines without a trial are given back. Returns, for people, what goes on costing money. Only
  /// destruction may follow.
  [[nodiscard]] virtual Result<std::string> detach() = 0;

  /// What no outcome tells of: machines kept in vain. A time that goes on is told again, with what
  /// it cost since the last call.
  [[nodiscard]] virtual std::vector<UnusedTime> take_unused() = 0;

  /// Notices for the user since the last call, in order.
  [[nodiscard]] virtual std::vector<Notice> take_notices() = 0;

 protected:
  MachineHolder() = default;
  MachineHolder(const MachineHolder&) = default;
  MachineHolder& operator=(const MachineHolder&) = default;
  ~MachineHolder() = default;  // owned and destroyed as the runner
};

}  // namespace steptune
