// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/machine/processes.hpp"
#include "trial_runner/local/nvml.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Samples a trial's GPUs while it runs. Counts only GPUs on which the trial's processes compute.
/// If the driver names no processes that are visible here, counts all GPUs that the trial can see.
class GpuWatch {
 public:
  /// If `nvml` is null, nothing is sampled; otherwise `nvml` must outlive the object. `gpus` are
  /// the GPUs that the trial can see. `started_s` is the trial's start.
  GpuWatch(const Nvml* nvml, std::vector<std::string> gpus, double started_s)
      : nvml_(nvml), gpus_(std::move(gpus)), sampled_s_(started_s) {}

  /// Processes outside the trial that compute on its GPUs.
  struct OtherProcesses {
    int count = 0;
    double from_s = 0.0;  ///< time of the previous sample, since which they may have computed
  };
  /// Takes a sample at `now_s`. `processes` are the trial's.
  OtherProcesses sample(double now_s, std::span<const ProcessStat> processes);

  /// Returns GPU use over all samples; nullopt if no GPU could be read.
  [[nodiscard]] std::optional<GpuUse> use() const { return all_.mean(); }
  /// Returns GPU use over the samples since the last call.
  [[nodiscard]] std::optional<GpuUse> use_since_last_call();

 private:
  class Readings {
   public:
    void add(const GpuReading& reading);
    void count_other_processes(int others);
    [[nodiscard]] std::optional<GpuUse> mean() const;

   private:
    GpuUse sums_;  ///< `utilisation`, `sm_clock_hz` and `slowed_share` summed over readings
    int count_ = 0;
  };

  const Nvml* nvml_;
  std::vector<std::string> gpus_;
  double sampled_s_;
  Readings all_;
  Readings since_asked_;
};

}  // namespace steptune::local
