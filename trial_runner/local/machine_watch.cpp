// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/machine_watch.hpp"

#include <utility>

namespace steptune::local {

MachineWatch::MachineWatch(double started_s, const std::optional<CpuTime>& cpu,
                           std::vector<int> cpus, SystemFiles files)
    : started_s_(started_s),
      cpus_(std::move(cpus)),
      files_(std::move(files)),
      cpu_(started_s, cpu),
      pressure_(started_s, read_pressure(files_)),
      clocks_(cpus_, files_) {}

std::optional<MachineWatch::Sample> MachineWatch::sample(double now_s, double own_s,
                                                         GpuWatch& gpus) {
  if (!is_due(now_s)) return std::nullopt;
  const auto proc_stat = files_.text("proc/stat");
  const auto span =
      cpu_.sample(now_s, proc_stat ? cpu_time_of(*proc_stat, cpus_) : std::nullopt, own_s);
  const PressureShares waited = pressure_.sample(now_s, read_pressure(files_));

  MachineSecond second;
  second.from_s = span.from_s - started_s_;
  second.to_s = now_s - started_s_;
  if (span.disturbance) {
    second.other_load = span.disturbance->other_load;
    second.steal = span.disturbance->steal;
  }
  second.memory_pressure = waited.memory.value_or(MachineSecond::k_unknown);
  second.storage_pressure = waited.storage.value_or(MachineSecond::k_unknown);
  second.quota_wait = waited.quota.value_or(MachineSecond::k_unknown);
  const auto clock_hz = clocks_.sample(now_s, proc_stat.value_or(""));
  second.cpu_clock_hz = clock_hz.value_or(MachineSecond::k_unknown);
  if (const auto gpu = gpus.use_since_last_call()) {
    second.gpu_clock_hz = gpu->sm_clock_hz;
    second.gpu_utilisation = gpu->utilisation;
    second.gpu_slowed = gpu->slowed_share;
  }

  constexpr Disturbance k_unknown_load{.other_load = MachineSecond::k_unknown,
                                       .steal = MachineSecond::k_unknown};
  Disturbance seen = span.disturbance.value_or(k_unknown_load);
  seen.memory_pressure = waited.memory.value_or(0.0);
  seen.storage_pressure = waited.storage.value_or(0.0);
  seen.quota_wait = waited.quota.value_or(0.0);
  seen.clocks_throttled = waited.clocks_throttled;
  return Sample{second, is_disturbing(seen) ? std::optional(seen) : std::nullopt};
}

}  // namespace steptune::local
