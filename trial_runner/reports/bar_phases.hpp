// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trial_runner/report.hpp"
#include "trial_runner/reports/progress_bar.hpp"

namespace steptune {

/// `evaluation` for validation and evaluation, `test`, `prediction`, `generation`, `checkpoint`:
/// what a bar or heading with this description is about. Nothing for any other.
[[nodiscard]] std::optional<std::string> phase_of_description(std::string_view description);

/// A message that a trainer prints around a phase: `Saving model checkpoint to out/checkpoint-500`
/// where one begins, `successfully saved checkpoint from iteration 1000` where it is over.
struct PhaseMessage {
  std::string name;
  bool is_over = false;
  std::size_t at = 0;  ///< where in the line it begins
};
[[nodiscard]] std::optional<PhaseMessage> phase_message(std::string_view line);

/// Turns progress bars that are no training into phases: one begins where its bar is drawn first
/// and ends where the bar is full. What comes before the first training step is start-up and no
/// phase.
class BarPhases {
 public:
  /// A line of such a bar; `report.received_s` is its time.
  void read(const std::string& name, double done, std::optional<double> total, Report& report);
  /// A message around a phase, which is over when the training goes on at the latest.
  void read(const PhaseMessage& message, Report& report);
  /// Ends the phase if it is the one under way.
  void end(const std::string& name, Report& report);
  /// True from the beginning of a phase to its end.
  [[nodiscard]] bool under_way() const { return name_ && !full_; }
  /// A line of the training's own progress: a phase whose bar never got full is over.
  void on_training(double step);

 private:
  std::optional<std::string> name_;  ///< of the phase that is under way, or whose full bar was seen
  double begin_s_ = 0.0;
  bool full_ = false;
  bool trained_ = false;
};

/// Recognises a bar without a telling description that runs from its begin to its end while the
/// training's bar stands still: the loop over the evaluation's batches.
class UnnamedBarPhases {
 public:
  /// A line of the bar that counts furthest.
  void on_training(double done);
  /// A line of any other bar. Ends a phase (`evaluation`, or as described) with its last count.
  void on_other(const std::string& key, const ProgressBar& bar, Report& report);

 private:
  std::string key_;
  double begin_s_ = 0.0;
  double last_done_ = 0.0;
  int advances_ = 0;
  double training_done_ = 0.0;
  double counted_before_ = 0.0;  ///< `training_done_` at the last full bar
};

}  // namespace steptune
