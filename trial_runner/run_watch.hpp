// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include <sys/types.h>

#include "trial_runner/machine_second.hpp"

namespace steptune {

/// Samples this machine (all CPUs and all visible GPUs) during a child process that is not a trial,
/// such as a long run. For use by one thread.
class RunWatch {
 public:
  /// `main` is the child's process number; the caller must not reap it while this object lives.
  /// `started_s` and the times of `sample` are from the same clock.
  RunWatch(pid_t main, double started_s);
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  ~RunWatch();

  /// Takes a sample. Returns the machine's state since the last sample; nullopt if that was less
  /// than about a second ago.
  [[nodiscard]] std::optional<MachineSecond> sample(double now_s);

 private:
  struct Watches;
  pid_t main_;
  std::unique_ptr<Watches> watches_;
};

}  // namespace steptune
