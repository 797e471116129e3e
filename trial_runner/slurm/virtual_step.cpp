// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/virtual_step.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/exit_status.hpp"
#include "common/text.hpp"

namespace steptune::slurm {
namespace {

/// Seconds between reports of a program without steps.
constexpr double k_report_s = 1.0;
/// Reporters print at most a few lines a second, however fast the steps are.
constexpr double k_least_report_s = 0.25;

}  // namespace

double VirtualCluster::StepState::first_report_s() const {
  return starts_s() +
         (program.training ? program.training->startup_s : program.silent_s + k_report_s);
}

double VirtualCluster::StepState::steps_a_report() const {
  if (!program.training) return 1.0;
  return std::max(1.0, std::ceil(k_least_report_s / program.training->step_s));
}

double VirtualCluster::StepState::seconds_a_report() const {
  return program.training ? steps_a_report() * program.training->step_s : k_report_s;
}

std::optional<double> VirtualCluster::StepState::samples_per_step() const {
  if (program.training) return program.training->samples_per_step;
  // Programs with a batch size report samples, which are needed to compare batch sizes.
  const auto batch = request.values.find("batch");
  if (batch == request.values.end()) return std::nullopt;
  return parse_finite(batch->second);
}

void VirtualCluster::StepState::report() {
  steps += steps_a_report();
  const auto samples = samples_per_step();
  print(next_report_s,
        fmt::format(
            "[steptune] {{\"v\":1,\"step\":{:.0f}{}{}}}\n", steps,
            samples ? fmt::format(",\"samples\":{}", steps * *samples) : "",
            program.training ? fmt::format(",\"clock\":{}", next_report_s - starts_s()) : ""));
  next_report_s += seconds_a_report();
}

void VirtualCluster::StepState::mark(double time_s, const std::string& text) {
  for (int copy = 0; copy < 2; ++copy)
    print(time_s, fmt::format("\x1esteptune {} {} ;\n", request.mark_word, text));
}

void VirtualCluster::StepState::end(double time_s, std::optional<int> status) {
  if (srun_status || program.is_stuck) return;
  for (int task = 0; begun && status && task < tasks_that_run(); ++task)
    mark(time_s, fmt::format("exit {} {}{}", task, *status, got_sigterm ? " sigterm" : ""));
  srun_status = begun ? status.value_or(k_sigkill_status) : 1;
  ends_s = time_s;
}

}  // namespace steptune::slurm
