// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "common/rng.hpp"
#include "trial_runner/report.hpp"

namespace steptune {

/// Time that passes between two steps again and again: evaluation, checkpoint, worker stall.
struct SimulatedStall {
  std::string name = "evaluation";
  double every_steps = 0.0;
  double seconds = 0.0;
  double spread = 0.0;    ///< relative standard deviation of its duration
  bool reported = false;  ///< as a phase
};

enum class SimulatedClock {
  none,    ///< reports carry no clock of the trial
  exact,   ///< a monotonic clock
  coarse,  ///< whole seconds
  jumps,   ///< set forward by 25 s, 7 s after the trial's start
  ranks,   ///< two processes print, each with its own clock, 37.5 s apart
};

/// A training program whose long-run speed is known by construction. What is 0 does not happen.
struct SimulatedProgram {
  double step_s = 0.1;  ///< mean of a steady step's own computing; a step is one sample
  double startup_s = 5.0;
  double launch_deviation = 0.0;  ///< relative standard deviation from launch to launch

  double noise = 0.02;         ///< relative standard deviation of a step
  double correlation = 0.0;    ///< of neighbouring steps (first-order autoregressive)
  double tail_share = 0.0;     ///< of steps that take longer by a Pareto time (shape 2.5) ...
  double tail_mean_s = 0.0;    ///< ... of this mean
  double bucket_steps = 0.0;   ///< steps between two buckets of equal lengths, longest first ...
  double bucket_spread = 0.0;  ///< ... from 1 + this to 1 - this times the mean step

  double warmup_slowdown = 0.0;  ///< the first step takes so many steady steps longer ...
  double warmup_steps = 0.0;     ///< ... fading by this e-fold
  int compile_step = 0;          ///< the step, from 1, that compiles ...
  double compile_s = 0.0;        ///< ... for so long

  double loader_ratio = 0.0;   ///< loading a batch takes so many steady steps
  double queue_batches = 0.0;  ///< that may be ready; filled from the begin of the start-up on

  std::vector<SimulatedStall> stalls;
  double hiccup_share = 0.0;      ///< of steps after which, at random, ...
  double hiccup_s = 0.0;          ///< ... an exponential time of this mean passes ...
  bool hiccups_in_pairs = false;  ///< ... and again after the next step
  bool hiccups_reported = false;  ///< as a phase
  double epoch_steps = 0.0;
  double last_batch = 1.0;  ///< size and duration of an epoch's last batch, relative to the others
  double respawn_s = 0.0;   ///< at the end of an epoch
  bool epochs_reported = false;  ///< their ends, as a phase

  double throttle_after_s = 0.0;  ///< after the trial's start steps take ...
  double throttle_ratio = 1.0;    ///< ... so many times as long
  double drift_per_minute = 0.0;  ///< relative growth of a step's duration
  double disturbed_after_s = 0.0;
  double disturbed_s = 0.0;      ///< for so long steps take ...
  double disturbed_ratio = 1.0;  ///< ... so many times as long
  /// Whether the runner sees who does it: a process that takes CPU time from the program's.
  bool disturber_shows = false;

  double ends_after_steps = 0.0;  ///< the program comes to its own end then; 0: never

  double report_every_steps = 1.0;
  double reports_per_s = 0.0;   ///< no more than so many; 0: as many as there are
  double log_interval_s = 0.0;  ///< lines are received together, every so many seconds
  double flush_steps = 0.0;     ///< lines are written together, every so many steps and at the end
  SimulatedClock clock = SimulatedClock::none;

  /// Seconds per sample of a run so long that how it began does not count; NaN where there is no
  /// such number (drift). Of this launch: without the variation between launches.
  [[nodiscard]] double truth_s() const;
  /// The same of steps alone, without stalls and epoch ends.
  [[nodiscard]] double step_truth_s() const;
};

/// The reports of one launch of a program under a virtual clock, one after another, without end.
class TrainingStream {
 public:
  TrainingStream(const SimulatedProgram& program, std::uint64_t seed);

  /// Whether the program has ended and all its reports were taken; goes on to the next one else.
  [[nodiscard]] bool is_over();
  /// The next report. `received_s` counts from the trial's start. As if the program went on, where
  /// it is over.
  [[nodiscard]] Report next();
  /// The trial's time, and what this launch's steps take relative to the program's mean.
  [[nodiscard]] double now_s() const { return now_s_; }
  [[nodiscard]] double launch_factor() const { return launch_factor_; }
  /// When the latest hiccup ended that took as long as half a step or longer and that a step's
  /// report has followed; nothing before that.
  [[nodiscard]] std::optional<double> hiccup_end_s() const { return hiccup_end_s_; }

 private:
  void step();
  void interrupt();
  void pass(const std::string& phase, double seconds, bool reported);
  [[nodiscard]] double hiccup_s();
  [[nodiscard]] double computing_s();
  [[nodiscard]] double wait_for_batch_s();
  [[nodiscard]] double level() const;
  void tell(Report report, double at_s);
  void flush();
  [[nodiscard]] bool has_ended() const;

  SimulatedProgram program_;
  Rng rng_;
  double launch_factor_ = 1.0;
  double state_ = 0.0;  ///< of the autoregressive noise
  bool hiccup_follows_ = false;
  std::optional<double> hiccup_end_s_;
  std::optional<double> untold_hiccup_end_s_;  ///< of one that no report has followed yet
  double now_s_ = 0.0;
  double steps_ = 0.0;
  double samples_ = 0.0;
  double last_report_s_ = -std::numeric_limits<double>::infinity();
  double produced_s_ = 0.0;  ///< when the loader finished its latest batch
  std::deque<double>
      consumed_s_;  ///< when the batches that the queue's size reaches back to left it
  std::deque<Report> waiting_;
  std::deque<Report> buffered_;  ///< told and not yet written
};

}  // namespace steptune
