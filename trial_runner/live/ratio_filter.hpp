// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace steptune::live {

/// A trial's seconds per sample divided by the baseline's.
struct TurnRatio {
  double value = 1.0;
  double half_width = 0.0;  ///< of the 95 % interval, relative
};

/// Scatter within a block: the variance of a step's seconds relative to the block's mean, estimated
/// from a few parts of the block.
struct StepScatter {
  double squares = 0.0;  ///< `freedom` times the estimated variance
  double freedom = 0.0;
};

/// Compares trials with the baseline. Blocks of both take turns in one running program. Sees only
/// whole blocks, no steps.
///
/// A block's log rate is the baseline's level, which wanders, plus the trial's log ratio, plus
/// noise with a variance proportional to 1 / steps. A Kalman filter (a local level with an
/// intervention: J. Durbin and S. J. Koopman, Time Series Analysis by State Space Methods, 2nd ed.,
/// Oxford 2012, ch. 3.2) estimates the level from the study's latest blocks. The less the level
/// wanders, the better is the estimate.
///
/// The amounts of wandering and noise are the most probable ones on a grid, with a prior for the
/// noise. A trial may scatter more than the baseline. This is estimated first from the steps within
/// its blocks, then from the blocks. If wandering cannot explain a block, something disturbed the
/// machine: the level is then unknown until further blocks show it (P. J. Harrison and C. F.
/// Stevens, Bayesian forecasting, Journal of the Royal Statistical Society B 38, 1976).
///
/// Disturbances of the machine hit the baseline and the trial equally often. If more of the trial's
/// blocks look disturbed, the trial itself causes them, and none of its blocks is excluded.
class RatioFilter {
 public:
  /// Announces that the next trial's block belongs to another trial.
  void begin_trial() { is_new_trial_ = true; }

  /// Adds a block of `steps` steps. `at_s` is its middle on the process's clock.
  /// `seconds_per_sample` and `steps` must be positive.
  void add_baseline(double seconds_per_sample, double steps, double at_s, StepScatter within = {});
  void add_trial(double seconds_per_sample, double steps, double at_s, StepScatter within = {});

  /// Returns the baseline's seconds per sample as of the last block; nullopt before its first.
  [[nodiscard]] std::optional<double> level() const;
  /// Returns the ratio of the current trial; nullopt until the trial has blocks of the baseline on
  /// both sides. The interval is widened by 15 %, because the caller may read it after each block
  /// and stop when it is tight.
  [[nodiscard]] std::optional<TurnRatio> ratio() const;
  /// Returns the standard deviation of a trial's step relative to the baseline's; 1 if unknown.
  [[nodiscard]] double scatter_ratio() const;
  /// Returns the longest useful block of the trial. In a longer block, the wandering level adds
  /// more uncertainty than the additional steps remove.
  [[nodiscard]] double longest_block_s(double step_s) const;

 private:
  struct Block {
    bool of_trial = false;
    bool first_of_trial = false;
    double log_rate = 0.0;
    double steps = 0.0;
    double at_s = 0.0;
    double variance_ratio = 1.0;  ///< variance of the trial's steps over that of the baseline's
  };
  struct Noise {
    double step_variance = 0.005;   ///< of a step's log seconds
    double wander_per_s = 1e-5;     ///< variance of the level's change in one second
    double trial_correction = 1.0;  ///< factor on the last trial's variance, from its blocks
  };
  struct State;

  void add(Block block);
  void learn_scatter();
  void forget_old();
  [[nodiscard]] State replayed(const Noise& noise, bool leaves_out_trials_blocks) const;
  [[nodiscard]] State compared() const;
  void fit();

  std::vector<Block> blocks_;  ///< latest blocks of the study
  Noise noise_;
  StepScatter baseline_within_;
  StepScatter trial_within_;
  double trial_variance_ratio_ = 1.0;
  std::size_t blocks_since_fit_ = 0;
  bool is_new_trial_ = false;
};

}  // namespace steptune::live
