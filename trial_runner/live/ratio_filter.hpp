// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace steptune::live {

/// A trial's seconds per sample over the baseline's.
struct TurnRatio {
  double value = 1.0;
  double half_width = 0.0;  ///< of its 95 % interval, relative
};

/// How a block scatters within: the variance of a step's relative seconds, as far as parts of it
/// tell.
struct StepScatter {
  double squares = 0.0;  ///< sum; `freedom` times the variance
  double freedom = 0.0;
};

/// Compares trials with the baseline from blocks of both in turns, in one running program. Knows
/// nothing of steps.
///
/// A block's log rate is the baseline's level, which wanders, plus the trial's log ratio, plus
/// noise in proportion to one over its steps; the Kalman filter of that (a local level with an
/// intervention: J. Durbin and S. J. Koopman, Time Series Analysis by State Space Methods, 2nd ed.,
/// Oxford 2012, ch. 3.2) knows the level the better the less it wanders, from all blocks of the
/// study. How much it wanders and scatters is what makes these blocks likeliest; how much more a
/// trial scatters than the baseline its steps tell within blocks, and then its blocks. A
/// block that no wandering explains belongs to a disturbance: the level is unknown there, and found
/// again by the blocks after it (P. J. Harrison and C. F. Stevens, Bayesian forecasting, Journal of
/// the Royal Statistical Society B 38, 1976).
///
/// Disturbances meet both alike. Where more of a trial's blocks look disturbed than the baseline's
/// let expect, its steps are so, and none of its blocks is left out.
class RatioFilter {
 public:
  /// The next block of a trial is another trial's.
  void begin_trial() { is_new_trial_ = true; }
  /// The next block is another process's, whose level and clock are its own.
  void restart() { is_new_process_ = true; }

  /// A block of `steps` at `seconds_per_sample`, whose middle was at `at_s` on the process's clock.
  /// The first two are greater than 0.
  void add_baseline(double seconds_per_sample, double steps, double at_s, StepScatter within = {});
  void add_trial(double seconds_per_sample, double steps, double at_s, StepScatter within = {});

  /// The baseline's seconds per sample as of the last block; nothing before its first.
  [[nodiscard]] std::optional<double> level() const;
  /// Of the trial under way; nothing before it has been seen between blocks of the baseline.
  /// Interval: fair for whoever looks after each block and ends with one that is tight enough.
  [[nodiscard]] std::optional<TurnRatio> ratio() const;
  /// Deviation of a step of the trial under way, in those of the baseline's; 1 where nothing is
  /// known.
  [[nodiscard]] double scatter_ratio() const;
  /// A block of the trial that lasts longer knows less of the level than of its steps.
  [[nodiscard]] double longest_block_s(double step_s) const;

 private:
  struct Block {
    bool of_trial = false;
    bool first_of_trial = false;
    bool first_of_process = false;
    double log_rate = 0.0;
    double steps = 0.0;
    double at_s = 0.0;
    double variance_ratio = 1.0;  ///< of a step of the trial to one of the baseline, by `within`
  };
  struct Noise {
    double step_variance = 0.005;   ///< of a step's log seconds
    double wander_per_s = 1e-5;     ///< variance of the level's change in a second
    double trial_correction = 1.0;  ///< of the last trial's variance, by its blocks
  };
  struct State;

  void add(Block block);
  void learn_scatter();
  void forget_old();
  [[nodiscard]] State replayed(const Noise& noise, bool leaves_out_trials_blocks) const;
  [[nodiscard]] State compared() const;
  void fit();

  std::vector<Block> blocks_;  ///< the latest of the study
  Noise noise_;
  StepScatter baseline_within_;
  StepScatter trial_within_;
  double trial_variance_ratio_ = 1.0;
  std::size_t blocks_since_fit_ = 0;
  bool is_new_trial_ = false;
  bool is_new_process_ = false;
};

}  // namespace steptune::live
