// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/run_watch.hpp"

#include <vector>

#include "common/child_process.hpp"
#include "common/machine/gpus.hpp"
#include "common/machine/processes.hpp"
#include "common/machine/system_files.hpp"
#include "trial_runner/local/cpu_time.hpp"
#include "trial_runner/local/gpu_watch.hpp"
#include "trial_runner/local/machine_watch.hpp"
#include "trial_runner/local/nvml.hpp"

namespace steptune {

struct RunWatch::Watches {
  explicit Watches(double started_s)
      : nvml(local::Nvml::open()),
        gpus(nvml.get(), visible_gpus(SystemFiles{}, process_variables()), started_s),
        machine(started_s, local::read_cpu_time({}), {}) {}

  std::unique_ptr<local::Nvml> nvml;
  local::GpuWatch gpus;
  local::MachineWatch machine;
};

RunWatch::RunWatch(pid_t main, double started_s)
    : main_(main), watches_(std::make_unique<Watches>(started_s)) {}

RunWatch::~RunWatch() = default;

std::optional<MachineSecond> RunWatch::sample(double now_s) {
  if (!watches_->machine.is_due(now_s)) return std::nullopt;
  const std::vector<ProcessStat> processes = process_tree(main_);
  watches_->gpus.sample(now_s, processes);
  const double own_s = local::own_cpu_seconds(processes, 0.0);
  const auto sample = watches_->machine.sample(now_s, own_s, watches_->gpus);
  return sample ? std::optional(sample->second) : std::nullopt;
}

}  // namespace steptune
