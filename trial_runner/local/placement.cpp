// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/placement.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/machine/cgroup.hpp"
#include "common/machine/cpus.hpp"
#include "common/machine/gpus.hpp"
#include "trial_runner/local/cpu_set.hpp"

namespace steptune::local {
namespace {

constexpr const char* k_openmp = "OMP_NUM_THREADS";
/// Variables of libraries that would otherwise use every CPU. MKL and OpenBLAS read their own
/// variable before OpenMP's.
constexpr std::array<const char*, 4> k_thread_variables{
    k_openmp, "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"};
constexpr const char* k_gpu_order = "CUDA_DEVICE_ORDER";

tl::unexpected<Error> too_small(const char* what, int parallel, int each, std::size_t available) {
  return fail(
      ErrorKind::usage,
      fmt::format("{} trials at a time with {} {}s each need {} {}s, but this process may use "
                  "{}",
                  parallel, each, what, parallel * each, what, available),
      "runner", fmt::format("lower \"parallel\" or \"{}s_per_trial\"", what));
}

}  // namespace

std::vector<int> rotated_for_container(std::vector<int> cpus, int usable, std::string_view name) {
  const auto each = static_cast<std::size_t>(std::max(1, usable));
  const std::size_t places = std::max<std::size_t>(1, cpus.size() / each);
  const std::size_t first = std::hash<std::string_view>()(name) % places * each;
  std::ranges::rotate(cpus, cpus.begin() + static_cast<std::ptrdiff_t>(first));
  return cpus;
}

Result<TrialResources> read_trial_resources(const SystemFiles& files,
                                            const Environment& environment) {
  const auto cpus = allowed_cpus();
  if (!cpus) return tl::unexpected(cpus.error());
  TrialResources resources;
  resources.usable_cpus = usable_cpus(static_cast<int>(cpus->size()), cgroup_cpu_quota(files));
  const std::string name = files.text("proc/sys/kernel/hostname").value_or("") +
                           files.text("proc/self/cgroup").value_or("");
  resources.cpus = rotated_for_container(in_topology_order(*cpus), resources.usable_cpus, name);
  resources.gpus = visible_gpus(files, environment);
  return resources;
}

Result<std::vector<Slot>> divide_into_slots(const TrialResources& resources,
                                            const LocalRunnerOptions& options) {
  if (options.parallel < 1) {
    return fail(ErrorKind::usage, "\"parallel\" must be at least 1", "runner");
  }
  const auto parallel = static_cast<std::size_t>(options.parallel);
  const int share = std::max(1, resources.usable_cpus / options.parallel);
  const int cpu_count = std::max(1, options.cpus_per_trial.value_or(share));
  const auto cpus_each = static_cast<std::size_t>(cpu_count);
  if (options.pin && parallel * cpus_each > resources.cpus.size()) {
    return too_small("cpu", options.parallel, cpu_count, resources.cpus.size());
  }
  std::optional<std::size_t> gpus_each;
  if (options.gpus_per_trial) {
    gpus_each = static_cast<std::size_t>(std::max(0, *options.gpus_per_trial));
    if (parallel * *gpus_each > resources.gpus.size()) {
      return too_small("gpu", options.parallel, *options.gpus_per_trial, resources.gpus.size());
    }
  } else if (parallel > 1 && resources.gpus.size() >= parallel) {
    gpus_each = resources.gpus.size() / parallel;
  }

  const auto take = [](const auto& from, std::size_t slot, std::size_t each) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(slot * each);
    return std::vector(begin, begin + static_cast<std::ptrdiff_t>(each));
  };
  std::vector<Slot> slots(parallel);
  for (std::size_t i = 0; i < parallel; ++i) {
    slots[i].number = i;
    slots[i].cpu_count = cpu_count;
    if (options.pin) slots[i].cpus = take(resources.cpus, i, cpus_each);
    if (gpus_each) slots[i].gpus = take(resources.gpus, i, *gpus_each);
  }
  return slots;
}

std::map<std::string, std::string> apply_slot(const Slot& slot, const TrialSpec& spec,
                                              Environment& environment) {
  const Environment& given = spec.environment;
  // The trial's processes share its CPUs.
  const int processes = spec.launch ? std::max(1, spec.launch->processes_per_node) : 1;
  std::map<std::string, std::string> placement;
  placement["cpu_count"] = std::to_string(slot.cpu_count);
  if (!slot.cpus.empty()) placement["cpus"] = format_cpus(slot.cpus);

  // If a study tunes OpenMP's threads, the other libraries follow OpenMP's value.
  const auto openmp = given.find(k_openmp);
  const std::string threads = openmp == given.end()
                                  ? std::to_string(std::max(1, slot.cpu_count / processes))
                                  : openmp->second;
  for (const char* variable : k_thread_variables) {
    if (spec.set_thread_counts && !given.contains(variable)) environment[variable] = threads;
    const auto set_variable = environment.find(variable);
    if (set_variable != environment.end()) placement[variable] = set_variable->second;
  }

  if (slot.gpus) placement["gpus"] = fmt::format("{}", fmt::join(*slot.gpus, ","));
  // By default CUDA numbers the fastest GPU first, while NVML numbers by PCI bus. So set the PCI
  // order. If CUDA_VISIBLE_DEVICES is inherited, keep the order, because its indices refer to it.
  if (slot.gpus && !environment.contains(k_visible_gpu_variables.front()) &&
      !given.contains(k_gpu_order)) {
    environment.emplace(k_gpu_order, "PCI_BUS_ID");
  }
  if (const auto order = environment.find(k_gpu_order); slot.gpus && order != environment.end()) {
    placement[k_gpu_order] = order->second;
  }
  for (const char* variable : k_visible_gpu_variables) {
    if (slot.gpus && !given.contains(variable)) environment[variable] = placement["gpus"];
    const auto set_variable = environment.find(variable);
    if (set_variable != environment.end()) placement[variable] = set_variable->second;
  }
  return placement;
}

}  // namespace steptune::local
