// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/gpu_watch.hpp"

#include <algorithm>
#include <utility>

namespace steptune::local {

GpuWatch::Strangers GpuWatch::look(double now_s, std::span<const ProcessStat> processes) {
  const double from_s = std::exchange(looked_s_, now_s);
  if (nvml_ == nullptr) return {0, from_s};
  int strangers = 0;
  for (const std::string& gpu : gpus_) {
    const auto reading = nvml_->read(gpu);
    if (!reading) continue;
    ++readings_;
    sums_.utilisation += reading->utilisation;
    sums_.sm_clock_hz += reading->sm_clock_hz;
    sums_.slowed_share += reading->slowed ? 1.0 : 0.0;
    if (reading->memory_bytes > 0.0) {
      sums_.peak_memory_share =
          std::max(sums_.peak_memory_share, reading->memory_used_bytes / reading->memory_bytes);
    }
    sums_.peak_memory_bytes = std::max(sums_.peak_memory_bytes, reading->memory_used_bytes);
    for (const pid_t pid : reading->processes) {
      const bool own = std::ranges::any_of(
          processes, [&](const ProcessStat& process) { return process.id.pid == pid; });
      // In a container the driver may tell the host's numbers, which mean nothing here.
      if (!own && read_stat(pid)) ++strangers;
    }
  }
  sums_.most_strangers = std::max(sums_.most_strangers, strangers);
  return {strangers, from_s};
}

std::optional<GpuUse> GpuWatch::use() const {
  if (readings_ == 0) return std::nullopt;
  GpuUse use = sums_;
  use.utilisation /= readings_;
  use.sm_clock_hz /= readings_;
  use.slowed_share /= readings_;
  return use;
}

}  // namespace steptune::local
