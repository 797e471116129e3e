// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "trial_runner/live/live_channel.hpp"
#include "trial_runner/live/ratio_filter.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::live {

/// The two sides that take turns.
enum class Arm { baseline, trial };

/// The settings measured without turns: the baseline's or others.
enum class Alone { baseline, other };

/// Cuts the steps of a running program into short blocks, in turns of the baseline and a trial (A B
/// A C A). Measures the trial in units of the baseline's current level (`RatioFilter`), so that
/// drift slower than a block cancels. Blocks grow with the preceding warm-up and, while the level
/// is stable, with the trial's time so far. Paired comparison in time: D. R. Cox, Planning of
/// Experiments, Wiley 1958, ch. 3. Independent of processes.
class PairedBlocks {
 public:
  /// Starts a trial in turns. `level` is the baseline's seconds per sample (per step if samples are
  /// not reported).
  void begin_trial(double level);
  /// Starts a trial without turns.
  void begin_alone(Alone settings);
  void end_trial();
  /// Continues the trial in another process. Unfinished blocks are lost.
  void restart();

  /// Returns the side whose turn it is.
  [[nodiscard]] Arm arm() const { return arm_; }
  /// Adds a step of the side whose turn it is. Returns true if the turn has changed.
  [[nodiscard]] bool add(const LiveStep& step);
  /// Returns new reports, in order. Counters are the trial's own; seconds are those at the
  /// baseline's level; `received_s` is the trial's clock. The first report comes when the trial
  /// lies between two blocks of the baseline.
  [[nodiscard]] std::vector<Report> take();
  /// True if this process has completed a pair, or a block of the baseline alone.
  [[nodiscard]] bool has_measured() const { return has_measured_; }

 private:
  struct Stretch {
    double steps = 0.0;
    double samples = 0.0;  ///< steps if the program reports no samples
    double seconds = 0.0;
  };
  struct Block {
    std::vector<Stretch> stretches;
    Stretch total;
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
  std::vector<LiveStep> points_;  ///< current block: its start, and its steps
  double warm_up_steps_ = 0.0;    ///< before the current block
  double warm_up_begin_ = 0.0;
  bool has_baseline_ = false;     ///< this process has completed a block of the baseline
  double baseline_step_s_ = 0.0;  ///< in the latest one
  bool has_trial_block_ = false;  ///< this process has completed a block of a trial in turns
  std::optional<Block> waiting_;  ///< the trial's first block, until the next one of the baseline
  Stretch done_;                  ///< of the trial
  std::vector<Report> reports_;
  bool has_measured_ = false;
};

/// Starts the trial: in turns if the baseline's level is known.
void begin_blocks(PairedBlocks& blocks, const LiveTrial& trial);

}  // namespace steptune::live
