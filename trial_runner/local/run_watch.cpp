// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/run_watch.hpp"

#include <vector>

#include "common/environment.hpp"
#include "common/machine/gpus.hpp"
#include "common/machine/processes.hpp"
#include "common/machine/system_files.hpp"
#include "trial_runner/local/cpu_time.hpp"

namespace steptune::local {

RunWatch::RunWatch(pid_t main, double started_s)
    : main_(main),
      nvml_(Nvml::open()),
      gpus_(nvml_.get(), visible_gpus(SystemFiles{}, process_variables()), started_s),
      machine_(started_s, read_cpu_time({}), {}) {}

std::optional<MachineSecond> RunWatch::look(double now_s) {
  if (!machine_.is_due(now_s)) return std::nullopt;
  const std::vector<ProcessStat> processes = process_tree(main_);
  gpus_.look(now_s, processes);
  // Whether it disturbs is judged by what the run promised, not by the thresholds.
  static_cast<void>(machine_.look(now_s, own_cpu_seconds(processes, 0.0), gpus_));
  return machine_.seconds().back();
}

}  // namespace steptune::local
