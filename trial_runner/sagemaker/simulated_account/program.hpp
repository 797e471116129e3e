// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/json.hpp"
#include "trial_runner/step_times.hpp"

namespace steptune::simulated {

/// Model of a simulated job's training program, on all of its machines.
struct SimulatedProgram {
  std::string first_line = "training begins";
  double startup_s = 5.0;  ///< from the container's start to the start of the first step
  double step_s = 0.1;     ///< seconds of a step; 0: the program reports no steps
  StepNoise noise;
  double samples_per_step = 1.0;
  /// Seconds from the container's start until the program ends by itself; nullopt: it runs until
  /// stopped.
  std::optional<double> ends_after_s;
  /// Exit status at that end; 137: killed because the machine's memory ran out.
  int exit_code = 0;
  std::string failure;     ///< text for `/opt/ml/output/failure`, also the last line of its log
  double stop_s = 0.5;     ///< time from SIGTERM until its end, at most the grace period
  double cpu_share = 0.5;  ///< used share of all cores, 0 to 1
  double gpu_share = 0.0;  ///< used share of all accelerators, 0 to 1
  std::map<std::string, double> metrics;  ///< part of every report
};

/// Function that returns the program for an input of CreateTrainingJob. The account calls it at
/// each start of a job's containers, also after a spot interruption.
using ProgramModel = std::function<SimulatedProgram(const Json& create_training_job_input)>;

}  // namespace steptune::simulated
