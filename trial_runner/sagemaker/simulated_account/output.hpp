// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/rng.hpp"
#include "trial_runner/sagemaker/simulated_account/program.hpp"

namespace steptune::simulated {

/// What one container prints: a greeting, then `[steptune]` reports (docs/reporting.md) about once
/// a second or, with slower steps, after each. Lines come into being when asked for, eight bytes
/// each, so that a program without end costs no more than what has been looked at.
class SimulatedOutput {
 public:
  /// Only a cluster's first machine reports, as rank 0 of a distributed training does.
  SimulatedOutput(const SimulatedProgram& program, bool reports, double start_s, Rng rng);

  /// The container is gone: nothing follows but its last words, if there are any.
  void end(double time_s, std::string last_words);

  /// Makes all lines up to this time; their times never go back.
  void produce_until(double time_s);
  [[nodiscard]] const std::vector<double>& times_s() const { return times_s_; }
  /// The line's text; `index` counts from 0 in `times_s`.
  [[nodiscard]] std::string text(std::size_t index) const;

 private:
  [[nodiscard]] std::string report(std::size_t index) const;

  SimulatedProgram program_;
  double start_s_ = 0.0;
  Rng rng_;
  StepTimes step_times_;
  double steps_per_line_ = 0.0;  ///< 0: no reports
  double next_s_ = 0.0;          ///< of the next report
  std::optional<double> end_s_;
  std::string last_words_;
  bool last_words_spoken_ = false;
  std::vector<double> times_s_;
};

}  // namespace steptune::simulated
