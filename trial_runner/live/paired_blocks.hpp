// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "trial_runner/live/live_channel.hpp"
#include "trial_runner/live/ratio_filter.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::live {

/// Which of the two takes turns.
enum class Arm { baseline, trial };

/// Whether the settings that are measured without turns are the baseline's own.
enum class Alone { baseline, other };

/// Cuts the steps of a running program into short blocks of the baseline and a trial in turns (A B
/// A C A), and measures the trial's in units of the baseline's level by then (`RatioFilter`), so
/// that whatever drifts slower than a block cancels. Blocks grow with the warm-up before them and,
/// while the level stands still, with what the trial has had. Paired comparison in time: D. R. Cox,
/// Planning of Experiments, Wiley 1958, ch. 3. Knows nothing of processes.
class PairedBlocks {
 public:
  /// The next trial, in turns. `level`: the baseline's seconds per sample (per step where no
  /// samples are told).
  void begin_trial(double level);
  /// The next trial, as it is and without turns.
  void begin_alone(Alone settings);
  void end_trial();
  /// Another process goes on with the trial: blocks under way are lost.
  void restart();

  /// Whose turn it is.
  [[nodiscard]] Arm arm() const { return arm_; }
  /// Takes a step of the arm whose turn it is; true when the turn has changed.
  [[nodiscard]] bool add(const LiveStep& step);
  /// What has been measured since the last call, in order. Counters are the trial's own, seconds
  /// those of the baseline's level; `received_s` is the trial's clock. The first comes as soon as
  /// the trial has been seen between blocks of the baseline.
  [[nodiscard]] std::vector<Report> take();
  /// This process has completed a pair, or a block of the baseline alone.
  [[nodiscard]] bool has_measured() const { return has_measured_; }

 private:
  struct Stretch {
    double steps = 0.0;
    double samples = 0.0;  ///< steps where the program tells no samples
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
  std::optional<double> level_;  ///< nothing: no turns
  Alone alone_ = Alone::baseline;
  Arm arm_ = Arm::baseline;
  std::vector<LiveStep> points_;  ///< of the block under way: where it began, and its steps
  double warm_up_steps_ = 0.0;    ///< before it
  double warm_up_begin_ = 0.0;
  bool has_baseline_ = false;     ///< this process has completed a block of it
  double baseline_step_s_ = 0.0;  ///< in the last one
  bool has_trial_block_ = false;  ///< this process has completed one of a trial in turns
  std::optional<Block> waiting_;  ///< the trial's first, for the baseline's after it
  Stretch done_;                  ///< of the trial
  std::vector<Report> reports_;
  bool has_measured_ = false;
};

/// Begins what the trial asks for: turns where the baseline's level is known.
void begin_blocks(PairedBlocks& blocks, const LiveTrial& trial);

}  // namespace steptune::live
