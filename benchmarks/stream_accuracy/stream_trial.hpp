// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "benchmarks/stream_accuracy/training_stream.hpp"
#include "trial_runner/measure/measurement.hpp"

namespace steptune {

/// When a trial ends, as the tuning loop decides it.
struct StopRule {
  double target_half_width = 0.02;
  double max_trial_s = 120.0;
  double min_window_s = 1.0;
  int min_window_steps = 30;
  /// A study's first trial is the baseline, which is looked at for longer (`look_for_long`).
  bool looks_for_long = true;
  /// Goes on until what a buffer may hide is within this share of the estimate, as confirming runs
  /// do.
  double most_hidden = std::numeric_limits<double>::infinity();
  /// So many trials of the same study's search, of programs of the same kind, were measured before:
  /// what they varied by is told to it, and to each of them that of those before.
  int earlier_trials = 0;
};

/// What others would have said of the same reports; seconds per sample, NaN for too few reports.
struct NaiveRules {
  double steps_3_to_5_s = 0.0;  ///< mean of the third to fifth interval between reports
  double skip_5_s = 0.0;        ///< mean of all but the first five
  double median_s = 0.0;        ///< of all
  double tqdm_s = 0.0;          ///< tqdm's exponentially smoothed rate (0.3) at the end
};

struct StreamTrial {
  Measurement measurement;
  NaiveRules naive;
  double truth_s = 0.0;  ///< of this launch
  /// The trial ended before the program's first phase or hiccup, before a change of level, or in a
  /// disturbance that its measurement tells as one: what it says does not speak of what follows.
  bool unseen = false;
  double seconds = 0.0;  ///< from the end of the start-up to the trial's end; of all launches
};

/// Plays a launch of a program to a `Measurer` until the rule ends it. One of which the runner saw
/// that others disturbed it much is measured again, as the tuning loop does: after another launch
/// of the same length, and of the two the one that was disturbed less counts. With `tells_queue`
/// the measurer is told the queue's size.
[[nodiscard]] StreamTrial run_stream_trial(const SimulatedProgram& program, const StopRule& rule,
                                           bool tells_queue, std::uint64_t seed);

}  // namespace steptune
