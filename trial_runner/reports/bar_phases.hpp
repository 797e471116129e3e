// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trial_runner/report.hpp"
#include "trial_runner/reports/progress_bar.hpp"

namespace steptune {

/// Returns the phase that a progress bar or heading with this description shows: `evaluation` (also
/// for validation), `test`, `prediction`, `generation`, `checkpoint`. nullopt for other
/// descriptions.
[[nodiscard]] std::optional<std::string> phase_of_description(std::string_view description);

/// A message that a trainer prints around a phase: `Saving model checkpoint to out/checkpoint-500`
/// at its start, `successfully saved checkpoint from iteration 1000` at its end.
struct PhaseMessage {
  std::string name;
  bool is_over = false;
  std::size_t at = 0;  ///< position of the message in the line
};
[[nodiscard]] std::optional<PhaseMessage> phase_message(std::string_view line);

/// Turns progress bars other than the training's bar into phases. A phase begins when its bar is
/// first drawn and ends when the bar is full. Bars before the first training step belong to the
/// start-up and are no phases.
class BarPhases {
 public:
  /// Reads a line of a bar other than the training's, drawn at `report.received_s`.
  void read(const std::string& name, double done, std::optional<double> total, Report& report);
  /// Reads a message about a phase. The phase ends at the latest when the training continues.
  void read(const PhaseMessage& message, Report& report);
  /// Ends the phase if it is under way.
  void end(const std::string& name, Report& report);
  /// True while a phase is under way.
  [[nodiscard]] bool under_way() const { return name_ && !full_; }
  /// Reads the training's own progress, which ends a phase whose bar never became full.
  void on_training(double step);

 private:
  std::optional<std::string> name_;  ///< latest phase, under way or ended
  double begin_s_ = 0.0;
  bool full_ = false;
  bool trained_ = false;
};

/// Detects evaluations whose bar has no clear description. Such a bar runs from start to end while
/// the training's bar does not advance.
class UnnamedBarPhases {
 public:
  /// Reads a line of the training's bar.
  void on_training(double done);
  /// Reads a line of any other bar. When the bar is full, reports a phase: the described phase, or
  /// `evaluation`.
  void on_other(const std::string& key, const ProgressBar& bar, Report& report);

 private:
  std::string key_;
  double begin_s_ = 0.0;
  double last_done_ = 0.0;
  int advances_ = 0;
  double training_done_ = 0.0;
  double counted_before_ = 0.0;  ///< `training_done_` when a bar was last full
};

}  // namespace steptune
