// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "benchmarks/stream_accuracy/training_stream.hpp"
#include "trial_runner/measure/measurement.hpp"

namespace steptune {

/// Rule that ends a trial, as in the tuning loop.
struct StopRule {
  double target_half_width = 0.02;
  double max_trial_s = 120.0;
  double min_window_s = 1.0;
  int min_window_steps = 30;
  /// True for a study's first trial: it is the baseline, which is measured for longer
  /// (`measure_longer`).
  bool measures_longer = true;
  /// Largest relative excess of `slowest_seconds_per_sample` over the estimate at which a trial may
  /// end, as for confirming runs.
  double most_hidden = std::numeric_limits<double>::infinity();
  /// Number of earlier trials of the same study, on the same kind of program. Each trial uses the
  /// noise that the trials before it have measured (`UsualNoise`).
  int earlier_trials = 0;
};

/// Estimates by simple rules from the same reports, in seconds per sample; NaN if there are too few
/// reports.
struct NaiveRules {
  double steps_3_to_5_s = 0.0;  ///< mean of the second to fourth interval (steps 3 to 5)
  double skip_5_s = 0.0;        ///< mean of all intervals but the first five
  double median_s = 0.0;        ///< median of all intervals
  double tqdm_s = 0.0;          ///< tqdm's exponentially smoothed rate (0.3) at the end
};

struct StreamTrial {
  Measurement measurement;
  NaiveRules naive;
  double truth_s = 0.0;  ///< true seconds per sample of this launch
  /// True if the measurement misses an event of the program: it found no rare phase, its window has
  /// no hiccup, or the level changed later. Also true if the trial ended within a disturbance that
  /// its measurement reports.
  bool unseen = false;
  /// Seconds from the end of the start-up to the trial's end, summed over all launches.
  double seconds = 0.0;
};

/// Simulates a launch of a program and passes its reports to a `Measurer`, until the rule ends the
/// trial. If the runner saw much disturbance by other processes, the launch is repeated later, as
/// in the tuning loop. The less disturbed launch counts. If `states_queue` is true, the measurer
/// gets the size of the program's queue.
[[nodiscard]] StreamTrial run_stream_trial(const SimulatedProgram& program, const StopRule& rule,
                                           bool states_queue, std::uint64_t seed);

}  // namespace steptune
