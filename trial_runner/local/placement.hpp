// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "common/machine/system_files.hpp"
#include "trial_runner/local/local_runner.hpp"
#include "trial_runner/local/spawn.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Resources of this machine that trials may use.
struct TrialResources {
  std::vector<int> cpus;  ///< allowed for this process, in topology order
  int usable_cpus = 1;    ///< number of CPUs; less than `cpus` has if a control group has a quota
  std::vector<std::string> gpus;  ///< named as in CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES
};

/// Rotates `cpus` so that the first CPU depends on the container's `name`. Containers that share
/// CPUs by quotas alone see all of the machine's CPUs. Without rotation, all of them would bind
/// their trials to the same first `usable` CPUs.
[[nodiscard]] std::vector<int> rotated_for_container(std::vector<int> cpus, int usable,
                                                     std::string_view name);

/// Reads the GPUs visible with `environment` and the CPUs of the calling thread. Returns a `runner`
/// error if the system does not report the CPUs.
[[nodiscard]] Result<TrialResources> read_trial_resources(const SystemFiles& files,
                                                          const Environment& environment);

/// A part of the machine that only one trial uses at a time.
struct Slot {
  std::vector<int> cpus;  ///< to bind to; empty: not bound
  int cpu_count = 1;
  std::optional<std::vector<std::string>> gpus;  ///< nullopt: the trial sees the tuner's GPUs
  std::size_t number = 0;                        ///< place among all slots
};

/// Divides the resources among `options.parallel` trials. Returns a `usage` error if `parallel` is
/// below 1, if GPUs are too few, or if CPUs to bind to are too few.
[[nodiscard]] Result<std::vector<Slot>> divide_into_slots(const TrialResources& resources,
                                                          const LocalRunnerOptions& options);

/// Sets the variables in `environment` that keep a trial to its slot, except the study's own
/// (`TrialSpec::environment`). Returns the values that apply: CPUs, GPUs, thread counts.
[[nodiscard]] std::map<std::string, std::string> apply_slot(const Slot& slot, const TrialSpec& spec,
                                                            Environment& environment);

}  // namespace steptune::local
