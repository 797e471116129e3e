// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "trial_runner/local/spawn.hpp"

namespace steptune::local {

/// What the machine has for trials.
struct Machine {
  std::vector<int> cpus;          ///< allowed to this process, in topology order
  int usable_cpus = 1;            ///< fewer than these where a cgroup quota says so
  std::vector<std::string> gpus;  ///< as CUDA_VISIBLE_DEVICES names them
};

/// Reads it from the system. GPUs are those of CUDA_VISIBLE_DEVICES (or HIP_VISIBLE_DEVICES) in
/// `environment` where set, else the device files of NVIDIA's and AMD's drivers.
[[nodiscard]] Result<Machine> read_machine(const Environment& environment);

struct PlacementOptions {
  int parallel = 1;
  std::optional<int> cpus_per_trial;  ///< default: an equal share
  std::optional<int> gpus_per_trial;  ///< default: an equal share; all of them for a single trial
  bool pin = true;
  bool set_thread_counts = true;
};

/// The part of the machine that one trial at a time has for itself.
struct Slot {
  std::vector<int> cpus;  ///< to bind to; empty: not bound
  int cpu_count = 1;
  std::optional<std::vector<std::string>> gpus;  ///< nothing: whatever the trial sees
};

/// Divides the machine among `parallel` trials. An error of kind `usage` where it is too small.
[[nodiscard]] Result<std::vector<Slot>> divide(const Machine& machine,
                                               const PlacementOptions& options);

/// Adds to a trial's environment what its slot demands, except what `given` (the study's own
/// variables) decides, and tells what is in force: CPUs, GPUs, thread counts.
[[nodiscard]] std::map<std::string, std::string> apply(const Slot& slot,
                                                       const PlacementOptions& options,
                                                       const Environment& given,
                                                       Environment& environment);

}  // namespace steptune::local
