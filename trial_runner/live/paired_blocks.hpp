// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "trial_runner/live/live_channel.hpp"
#include "trial_runner/live/ratio_filter.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/seen_parts.hpp"

namespace steptune::live {

/// The two sides that take turns.
enum class Arm { baseline, trial };

/// Settings of a trial that is measured without turns: the baseline's or other ones.
enum class Alone { baseline, other };

/// Cuts the steps of a running program into short blocks. Blocks of the baseline (A) and of trials
/// (B, C) take turns: A B A C A. Measures the trial relative to the baseline's current level, its
/// seconds per sample (`RatioFilter`). So drift that is slow compared with a block cancels out.
/// After a longer warm-up, blocks are longer. While the level is stable, blocks also grow with the
/// trial's time so far. Paired comparison in time: D. R. Cox, Planning of Experiments, Wiley 1958,
/// ch. 3. Uses no processes itself.
class PairedBlocks {
 public:
  /// Starts a trial in turns. `level` is the baseline's seconds per sample (per step if samples are
  /// not reported).
  void begin_trial(double level);
  /// Starts a trial without turns.
  void begin_alone(Alone settings);
  void end_trial();

  /// Returns the side whose turn it is.
  [[nodiscard]] Arm arm() const { return arm_; }
  /// Adds a step of the side whose turn it is. Returns true if the turn has changed.
  [[nodiscard]] bool add(const LiveStep& step);
  /// Returns new reports, in order. Counters are the trial's own. Seconds are converted to the
  /// level given to `begin_trial`; `received_s` is the trial's time in these seconds. In turns, the
  /// first report comes when the trial has blocks of the baseline on both sides.
  [[nodiscard]] std::vector<Report> take();

 private:
  struct Stretch {
    double steps = 0.0;
    double samples = 0.0;  ///< steps if the program reports no samples
    double seconds = 0.0;
  };
  struct Block {
    std::vector<Stretch> stretches;
    Stretch total;
    LiveStep first_with_parts;  ///< without parts if none of the block's steps has parts
    LiveStep last_with_parts;
    StepScatter within;
    double middle_s = 0.0;
    [[nodiscard]] double rate() const { return total.seconds / total.samples; }
  };
  [[nodiscard]] static Stretch between(const LiveStep& from, const LiveStep& to);
  [[nodiscard]] double wanted_steps() const;
  [[nodiscard]] bool is_complete() const;
  [[nodiscard]] Block cut() const;
  void begin();
  void turn_to(Arm arm);
  [[nodiscard]] bool add_alone(const Block& block);
  [[nodiscard]] bool add_in_turn(const Block& block);
  void add_baseline(const Block& block);
  void measured(const Block& block, double scale);
  void report_done();
  void compare();

  RatioFilter filter_;
  bool has_trial_ = false;
  std::optional<double> level_;  ///< nullopt: no turns
  Alone alone_ = Alone::baseline;
  Arm arm_ = Arm::baseline;
  std::vector<LiveStep> points_;  ///< current block: the step at which it began, and its steps
  double warm_up_steps_ = 0.0;    ///< before the current block
  double warm_up_begin_ = 0.0;
  bool has_baseline_ = false;     ///< a block of the baseline is complete
  double baseline_step_s_ = 0.0;  ///< seconds of a step in that block
  std::optional<Block> waiting_;  ///< the trial's first block, until the baseline's next block
  Stretch done_;                  ///< sum of the trial's reported blocks
  SeenParts seen_parts_;          ///< in these blocks
  std::vector<Report> reports_;
};

}  // namespace steptune::live
