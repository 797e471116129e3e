// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "common/machine/system_files.hpp"
#include "trial_runner/local/spawn.hpp"

namespace steptune::local {

/// What of this machine trials may use.
struct TrialResources {
  std::vector<int> cpus;          ///< allowed to this process, in topology order
  int usable_cpus = 1;            ///< fewer than these where a cgroup quota says so
  std::vector<std::string> gpus;  ///< as CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES names them
};

/// `cpus` in an order that begins where the container called `name` may: of CPUs that containers
/// share by quotas alone, each would otherwise bind its trials to the same first `usable`.
[[nodiscard]] std::vector<int> from_own_place(std::vector<int> cpus, int usable,
                                              std::string_view name);

/// GPUs are those visible with `environment`, CPUs those of the calling thread. Errors
/// (`runner`): the system does not tell these.
[[nodiscard]] Result<TrialResources> read_trial_resources(const SystemFiles& files,
                                                          const Environment& environment);

struct PlacementOptions {
  int parallel = 1;
  std::optional<int> cpus_per_trial;  ///< default: an equal share
  std::optional<int> gpus_per_trial;  ///< default: an equal share; all of them for a single trial
  bool pin = true;
  bool set_thread_counts = true;
  int processes = 1;  ///< of a trial, which share its processors
};

/// The part of the machine that one trial at a time has for itself.
struct Slot {
  std::vector<int> cpus;  ///< to bind to; empty: not bound
  int cpu_count = 1;
  std::optional<std::vector<std::string>> gpus;  ///< nothing: whatever the trial sees
};

/// Divides them among `parallel` trials. An error of kind `usage` where they are too few.
[[nodiscard]] Result<std::vector<Slot>> divide_into_slots(const TrialResources& resources,
                                                          const PlacementOptions& options);

/// Sets the variables of a trial's environment that keep it to its slot, except those that `given`
/// (the study's own variables) sets, and returns what is in force: CPUs, GPUs, thread counts.
[[nodiscard]] std::map<std::string, std::string> apply_slot(const Slot& slot,
                                                            const PlacementOptions& options,
                                                            const Environment& given,
                                                            Environment& environment);

}  // namespace steptune::local
