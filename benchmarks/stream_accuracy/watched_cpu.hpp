// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "benchmarks/stream_accuracy/training_stream.hpp"
#include "common/rng.hpp"
#include "trial_runner/local/cpu_time.hpp"

namespace steptune {

/// The CPU that a program of the simulator computes on, watched once a second as the local runner
/// watches one. Where a disturber shows it is a process that takes so much of the CPU that steps
/// last as much longer; the system's own processes take 2 % on average.
class WatchedCpu {
 public:
  WatchedCpu(const SimulatedProgram& program, std::uint64_t seed);

  /// Looks at each second up to this time since the trial's start.
  void advance(double now_s);
  /// Seconds so far that the runner would report as disturbed (`TrialDisturbed`).
  [[nodiscard]] double disturbed_s() const { return disturbed_s_; }

 private:
  SimulatedProgram program_;
  Rng rng_;
  double now_s_ = 0.0;
  double others_s_ = 0.0;  ///< CPU time of others since the trial's start
  local::DisturbanceWatch watch_;
  double disturbed_s_ = 0.0;
};

}  // namespace steptune
