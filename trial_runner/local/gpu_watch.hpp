// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trial_runner/local/nvml.hpp"
#include "trial_runner/local/proc.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Looks at a trial's GPUs while it runs.
class GpuWatch {
 public:
  /// `nvml` may be null, and then nothing is seen; else it outlives the object.
  GpuWatch(const Nvml* nvml, std::vector<std::string> gpus) : nvml_(nvml), gpus_(std::move(gpus)) {}

  /// Returns how many processes other than the trial's `processes` compute on its GPUs now.
  int look(std::span<const ProcessStat> processes);

  /// Over all looks; nothing where no GPU could be looked at.
  [[nodiscard]] std::optional<GpuUse> use() const;

 private:
  const Nvml* nvml_;
  std::vector<std::string> gpus_;
  GpuUse sums_;  ///< `utilisation`, `sm_clock_hz` and `slowed_share` summed over readings
  int readings_ = 0;
};

}  // namespace steptune::local
