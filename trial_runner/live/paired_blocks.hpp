// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "trial_runner/live/live_channel.hpp"

namespace steptune::live {

/// Which of the two takes turns.
enum class Arm { baseline, trial };

/// Steps of a trial, as they would have been at the baseline's level.
struct PairedSteps {
  double steps = 0.0;
  double samples = 0.0;  ///< steps where the program tells no samples
  double seconds = 0.0;
};

/// Cuts the steps of a running program into short blocks of the baseline and a trial in turns (A B
/// A C A), and measures the trial's in units of its neighbours: the seconds of a block are scaled
/// by the baseline's level over the mean of the blocks before and after it, so that whatever drifts
/// slower than a block cancels. Paired comparison in time: D. R. Cox, Planning of Experiments,
/// Wiley 1958, ch. 3. Knows nothing of processes.
class PairedBlocks {
 public:
  /// The next trial. `level`: the baseline's seconds per sample (per step where no samples are
  /// told); nothing: it is the baseline that is measured, as it is and without turns.
  void begin_trial(std::optional<double> level);
  void end_trial();
  /// Another process goes on with the trial: blocks under way are lost.
  void restart();

  /// Whose turn it is.
  [[nodiscard]] Arm arm() const { return arm_; }
  /// Takes a step of the arm whose turn it is; true when the turn has changed.
  [[nodiscard]] bool add(const LiveStep& step);
  /// Measured since the last call, in order.
  [[nodiscard]] std::vector<PairedSteps> take();
  /// This process has completed a pair, or a block of the baseline alone.
  [[nodiscard]] bool has_measured() const { return has_measured_; }

 private:
  struct Block {
    std::vector<PairedSteps> stretches;
    PairedSteps total;
    [[nodiscard]] double rate() const { return total.seconds / total.samples; }
  };
  [[nodiscard]] bool is_complete() const;
  [[nodiscard]] Block cut() const;
  void emit(const Block& block, double scale);

  bool has_trial_ = false;
  std::optional<double> level_;
  Arm arm_ = Arm::baseline;
  std::vector<LiveStep> points_;  ///< of the block under way, warm-up left out
  std::optional<double> before_;  ///< rate of the last block of the baseline
  double baseline_block_s_ = 0.0;
  std::optional<Block> waiting_;  ///< of the trial, for the baseline's block after it
  std::vector<PairedSteps> measured_;
  bool has_measured_ = false;
};

}  // namespace steptune::live
