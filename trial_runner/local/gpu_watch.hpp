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

/// Looks at a trial's GPUs while it runs. Of those that it sees only the ones count on which its
/// processes compute; all of them where the driver does not tell whose processes are on them.
class GpuWatch {
 public:
  /// `nvml` may be null, and then nothing is seen; else it outlives the object. `gpus`: that the
  /// trial sees. `started_s`: its start.
  GpuWatch(const Nvml* nvml, std::vector<std::string> gpus, double started_s)
      : nvml_(nvml), gpus_(std::move(gpus)), looked_s_(started_s) {}

  /// Processes other than the trial's that compute on its GPUs.
  struct Strangers {
    int count = 0;
    double from_s = 0.0;  ///< the look before, since which they may have been there
  };
  /// Looks at `now_s`; `processes` are the trial's.
  Strangers look(double now_s, std::span<const ProcessStat> processes);

  /// Over all looks; nothing where no GPU could be looked at.
  [[nodiscard]] std::optional<GpuUse> use() const { return all_.mean(); }
  /// Over the looks since this was asked before.
  [[nodiscard]] std::optional<GpuUse> use_since_asked();

 private:
  class Readings {
   public:
    void add(const GpuReading& reading);
    void count_strangers(int strangers);
    [[nodiscard]] std::optional<GpuUse> mean() const;

   private:
    GpuUse sums_;  ///< `utilisation`, `sm_clock_hz` and `slowed_share` summed over readings
    int count_ = 0;
  };

  const Nvml* nvml_;
  std::vector<std::string> gpus_;
  double looked_s_;
  Readings all_;
  Readings since_asked_;
};

}  // namespace steptune::local
