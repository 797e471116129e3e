// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/json.hpp"
#include "trial_runner/step_times.hpp"

namespace steptune::simulated {

/// What stands in for the training program of a simulated job, on all of its machines.
struct SimulatedProgram {
  std::string first_line = "training begins";
  double startup_s = 5.0;  ///< container's start to the first step's begin
  double step_s = 0.1;     ///< steady; 0: it never reports a step
  StepNoise noise;
  double samples_per_step = 1.0;
  /// From the container's start until the program ends by itself; nothing: it runs until stopped.
  std::optional<double> ends_after_s;
  int exit_code = 0;       ///< of that end; 137 stands for killed for the machine's memory
  std::string failure;     ///< what it writes to `/opt/ml/output/failure` and, last, to its log
  double stop_s = 0.5;     ///< from SIGTERM until it is gone, unless the grace period is shorter
  double cpu_share = 0.5;  ///< of all cores, 0 to 1
  double gpu_share = 0.0;  ///< of all accelerators, 0 to 1
  std::map<std::string, double> metrics;  ///< told with every report
};

/// The program that a job's request amounts to. Called at each start of a job's containers, so a
/// second time after a spot interruption. The input is that of CreateTrainingJob.
using ProgramModel = std::function<SimulatedProgram(const Json& create_training_job_input)>;

}  // namespace steptune::simulated
