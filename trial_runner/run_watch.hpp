// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include <sys/types.h>

#include "trial_runner/machine_second.hpp"

namespace steptune {

/// Looks at this machine, all of its CPUs and the GPUs that are seen from here, while a child
/// process runs that is no trial. One thread.
class RunWatch {
 public:
  /// `main`: its number; it is not reaped while this looks. Times are on one clock.
  RunWatch(pid_t main, double started_s);
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  ~RunWatch();

  /// What was seen since the look before, if that was about a second ago or more.
  [[nodiscard]] std::optional<MachineSecond> look(double now_s);

 private:
  struct Watches;
  pid_t main_;
  std::unique_ptr<Watches> watches_;
};

}  // namespace steptune
