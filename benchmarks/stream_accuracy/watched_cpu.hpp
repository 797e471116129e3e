// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "benchmarks/stream_accuracy/training_stream.hpp"
#include "common/rng.hpp"
#include "trial_runner/local/cpu_time.hpp"

namespace steptune {

/// CPU of a simulated program, sampled once a second as the local runner does. With
/// `SimulatedProgram::disturber_shows`, the disturbance is a process that uses CPU time on this CPU
/// and so lengthens the steps. Otherwise, nothing shows it. The system's own processes use 2 % on
/// average.
class WatchedCpu {
 public:
  WatchedCpu(const SimulatedProgram& program, std::uint64_t seed);

  /// Simulates each second up to this time since the trial's start.
  void advance(double now_s);
  /// Returns the seconds so far that the runner would report as disturbed (`TrialDisturbed`).
  [[nodiscard]] double disturbed_s() const { return disturbed_s_; }

 private:
  SimulatedProgram program_;
  Rng rng_;
  double now_s_ = 0.0;
  double others_s_ = 0.0;  ///< CPU time of other processes since the trial's start
  local::DisturbanceWatch watch_;
  double disturbed_s_ = 0.0;
};

}  // namespace steptune
