// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "tuner/cli/line_printer.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/report/objective_view.hpp"

namespace steptune {

/// Shows a study while it runs. On a smart terminal, shows a line for each running trial and a line
/// for the study, rewritten in place. Leaves a permanent line for each trial that ended. On other
/// outputs, prints a line at each start and end of a trial.
class LiveDisplay final : public LoopListener {
 public:
  /// `screen_clock` is real time; `loop_clock` is the loop's clock and may be virtual. All
  /// references must outlive the display. `quiet` shows only warnings.
  LiveDisplay(LinePrinter& printer, const Clock& screen_clock, const Clock& loop_clock,
              const StudySpec& study, bool quiet);

  void on_phase(const std::string& phase) override;
  void on_planned(const PlannedCourse& course) override;
  void on_trial_started(const TrialRecord& trial) override;
  void on_resumed(const Standing& standing) override;
  void on_trial_ended(const TrialRecord& trial, const Standing& standing) override;
  void on_progress(const std::vector<const RunningTrial*>& running, double elapsed_s) override;
  void on_warning(const std::string& message) override;

  /// Removes the live lines. Call it before printing anything else.
  void finish();

 private:
  /// Updates the figures in the study's line.
  void take(const Standing& standing);
  [[nodiscard]] std::string trial_line(const RunningTrial& live) const;
  [[nodiscard]] std::string study_line(double elapsed_s) const;
  /// Returns the gain over the baseline; empty if the gain cannot be computed.
  [[nodiscard]] std::string gain_text(const TrialRecord& trial, const Standing& standing) const;
  [[nodiscard]] std::string ended_line(const TrialRecord& trial, const Standing& standing) const;

  LinePrinter& printer_;
  const Clock& screen_clock_;
  const Clock& loop_clock_;
  const StudySpec& study_;
  bool quiet_;
  std::vector<ObjectiveView> objectives_;
  std::vector<std::string> parameter_order_;
  std::string phase_;
  double next_draw_s_ = 0.0;
  std::int64_t trials_done_ = 0;  ///< trials of the search, including earlier runs
  double spent_usd_ = 0.0;
  std::string best_;  ///< `best trial 7: 1.83x`; empty if there is no best trial
};

}  // namespace steptune
