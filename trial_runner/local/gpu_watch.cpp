// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/gpu_watch.hpp"

#include <algorithm>
#include <utility>

namespace steptune::local {
namespace {

struct SampledGpu {
  GpuReading reading;
  bool is_used = false;  ///< by the trial
  int others = 0;        ///< processes outside the trial
};

SampledGpu sampled(GpuReading reading, std::span<const ProcessStat> processes) {
  SampledGpu gpu{std::move(reading)};
  for (const pid_t pid : gpu.reading.processes) {
    const bool own = std::ranges::any_of(
        processes, [&](const ProcessStat& process) { return process.id.pid == pid; });
    gpu.is_used |= own;
    // In a container, the driver may report the host's process numbers, which are not valid here.
    // So count only processes that exist here.
    if (!own && read_stat(pid)) ++gpu.others;
  }
  return gpu;
}

}  // namespace

GpuWatch::OtherProcesses GpuWatch::sample(double now_s, std::span<const ProcessStat> processes) {
  const double from_s = std::exchange(sampled_s_, now_s);
  if (nvml_ == nullptr) return {0, from_s};
  std::vector<SampledGpu> seen;
  for (const std::string& gpu : gpus_) {
    if (auto reading = nvml_->read(gpu)) seen.push_back(sampled(*std::move(reading), processes));
  }
  // A program may see more GPUs than it uses. Ignore other programs on GPUs that it does not use.
  if (std::ranges::any_of(seen,
                          [](const SampledGpu& gpu) { return gpu.is_used || gpu.others > 0; }))
    std::erase_if(seen, [](const SampledGpu& gpu) { return !gpu.is_used; });
  int others = 0;
  for (const SampledGpu& gpu : seen) {
    all_.add(gpu.reading);
    since_asked_.add(gpu.reading);
    others += gpu.others;
  }
  all_.count_other_processes(others);
  return {others, from_s};
}

std::optional<GpuUse> GpuWatch::use_since_last_call() {
  return std::exchange(since_asked_, Readings{}).mean();
}

void GpuWatch::Readings::add(const GpuReading& reading) {
  ++count_;
  sums_.utilisation += reading.utilisation;
  sums_.sm_clock_hz += reading.sm_clock_hz;
  sums_.slowed_share += reading.slowed ? 1.0 : 0.0;
  if (reading.memory_bytes > 0.0) {
    sums_.peak_memory_share =
        std::max(sums_.peak_memory_share, reading.memory_used_bytes / reading.memory_bytes);
  }
  sums_.peak_memory_bytes = std::max(sums_.peak_memory_bytes, reading.memory_used_bytes);
}

void GpuWatch::Readings::count_other_processes(int others) {
  sums_.most_other_processes = std::max(sums_.most_other_processes, others);
}

std::optional<GpuUse> GpuWatch::Readings::mean() const {
  if (count_ == 0) return std::nullopt;
  GpuUse use = sums_;
  use.utilisation /= count_;
  use.sm_clock_hz /= count_;
  use.slowed_share /= count_;
  return use;
}

}  // namespace steptune::local
