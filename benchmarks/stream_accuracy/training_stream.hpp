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

/// Recurring time between two steps: evaluation, checkpoint, worker stall.
struct SimulatedStall {
  std::string name = "evaluation";
  double every_steps = 0.0;
  double seconds = 0.0;
  double spread = 0.0;    ///< relative standard deviation of its duration
  bool reported = false;  ///< true if the program reports it as a phase
};

enum class SimulatedClock {
  none,    ///< reports contain no clock
  exact,   ///< a monotonic clock
  coarse,  ///< whole seconds
  jumps,   ///< 7 s after the trial's start, the clock jumps forward by 25 s
  ranks,   ///< two processes print, each with its own clock, 37.5 s apart
};

/// Simulated training program whose long-run speed is known by construction. A value of 0 switches
/// an effect off.
struct SimulatedProgram {
  double step_s = 0.1;  ///< mean compute time of a steady step; a step is one sample
  double startup_s = 5.0;
  double launch_deviation = 0.0;  ///< relative standard deviation from launch to launch

  double noise = 0.02;       ///< relative standard deviation of a step
  double correlation = 0.0;  ///< correlation of neighbouring steps (first-order autoregressive)
  /// Share of steps with an additional Pareto-distributed time (shape 2.5).
  double tail_share = 0.0;
  double tail_mean_s = 0.0;   ///< mean of that additional time
  double bucket_steps = 0.0;  ///< steps in one bucket: samples sorted by length, longest first
  /// Step times in a bucket fall from 1 + this to 1 - this times the mean.
  double bucket_spread = 0.0;

  double warmup_slowdown = 0.0;  ///< extra time of the first step, as a multiple of a steady step
  double warmup_steps = 0.0;     ///< that extra time falls by the factor e in this many steps
  int compile_step = 0;          ///< number of the step, from 1, in which the program compiles
  double compile_s = 0.0;        ///< seconds of that compilation

  double loader_ratio = 0.0;  ///< time to load a batch, as a multiple of a steady step
  /// Size of the queue of ready batches. The queue begins to fill at the trial's start.
  double queue_batches = 0.0;

  std::vector<SimulatedStall> stalls;
  double hiccup_share = 0.0;      ///< share of steps, at random, that a hiccup follows
  double hiccup_s = 0.0;          ///< mean duration of a hiccup (exponential)
  bool hiccups_in_pairs = false;  ///< if true, a second hiccup follows after the next step
  bool hiccups_reported = false;  ///< true if the program reports hiccups as phases
  double epoch_steps = 0.0;       ///< steps in an epoch
  /// Size and duration of an epoch's last batch, relative to other batches.
  double last_batch = 1.0;
  double respawn_s = 0.0;        ///< seconds in which workers restart at the end of an epoch
  bool epochs_reported = false;  ///< true if the program reports epoch ends as phases

  double throttle_after_s = 0.0;   ///< time after the trial's start at which throttling begins
  double throttle_ratio = 1.0;     ///< factor on the step time from then on
  double drift_per_minute = 0.0;   ///< relative growth of a step's duration per minute
  double disturbed_after_s = 0.0;  ///< time after the trial's start at which a disturbance begins
  double disturbed_s = 0.0;        ///< duration of the disturbance
  double disturbed_ratio = 1.0;    ///< factor on the step time during the disturbance
  /// True if the runner sees the cause of the disturbance: a process that uses CPU time of the
  /// program's CPU.
  bool disturber_shows = false;

  double ends_after_steps = 0.0;  ///< steps after which the program ends by itself; 0: never

  double report_every_steps = 1.0;
  double reports_per_s = 0.0;  ///< highest rate of reports; 0: unlimited
  /// The runner receives lines in groups, at multiples of this many seconds.
  double log_interval_s = 0.0;
  /// The program writes lines in groups: each time after this many steps, and at its end.
  double flush_steps = 0.0;
  SimulatedClock clock = SimulatedClock::none;

  /// Returns the seconds per sample of a run so long that its start is negligible; NaN if there is
  /// no such number (drift). Does not include variation between launches.
  [[nodiscard]] double truth_s() const;
  /// Returns the seconds per sample of steps alone, without stalls and epoch ends.
  [[nodiscard]] double step_truth_s() const;
};

/// Endless sequence of reports of one launch of a program under a virtual clock.
class TrainingStream {
 public:
  TrainingStream(const SimulatedProgram& program, std::uint64_t seed);

  /// True if the program has ended and `next` has returned all its reports. Otherwise simulates up
  /// to the next report.
  [[nodiscard]] bool is_over();
  /// Returns the next report. `received_s` counts from the trial's start. If the program is over,
  /// simulates steps beyond its end.
  [[nodiscard]] Report next();
  /// Returns the time since the trial's start. `launch_factor` is the step time of this launch
  /// relative to the program's mean.
  [[nodiscard]] double now_s() const { return now_s_; }
  [[nodiscard]] double launch_factor() const { return launch_factor_; }
  /// Returns the end of the latest hiccup. Ignores hiccups shorter than half a step, and hiccups
  /// without a later report of a step. nullopt if there was none.
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
  double state_ = 0.0;  ///< state of the autoregressive noise
  bool hiccup_follows_ = false;
  std::optional<double> hiccup_end_s_;
  /// End of a hiccup that no report has followed yet.
  std::optional<double> unreported_pause_end_s_;
  double now_s_ = 0.0;
  double steps_ = 0.0;
  double samples_ = 0.0;
  double last_report_s_ = -std::numeric_limits<double>::infinity();
  double produced_s_ = 0.0;  ///< time at which the loader finished its latest batch
  /// Times at which the latest `queue_batches` batches left the queue.
  std::deque<double> consumed_s_;
  std::deque<Report> waiting_;
  std::deque<Report> buffered_;  ///< reports that the program has made but not yet written
};

}  // namespace steptune
