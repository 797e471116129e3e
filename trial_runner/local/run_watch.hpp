// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include <sys/types.h>

#include "trial_runner/local/gpu_watch.hpp"
#include "trial_runner/local/machine_watch.hpp"
#include "trial_runner/local/nvml.hpp"
#include "trial_runner/machine_second.hpp"

namespace steptune::local {

/// Looks at this machine, all of its CPUs and the GPUs that are seen from here, while a child
/// process runs that is no trial.
class RunWatch {
 public:
  /// `main`: its number; it is not reaped while this looks. Times are on one clock.
  RunWatch(pid_t main, double started_s);

  /// What was seen since the look before, if that was about a second ago or more.
  [[nodiscard]] std::optional<MachineSecond> look(double now_s);

 private:
  pid_t main_;
  std::unique_ptr<Nvml> nvml_;
  GpuWatch gpus_;
  MachineWatch machine_;
};

}  // namespace steptune::local
