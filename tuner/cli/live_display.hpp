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

/// Shows a study while it runs: on a smart terminal a line per running trial and one for the study,
/// rewritten in place, with a line left behind for each trial that ended; elsewhere a line per
/// start and end.
class LiveDisplay final : public LoopListener {
 public:
  /// `screen_clock` is real time, `loop_clock` what the loop runs under, be it virtual; all outlive
  /// the display. `quiet` shows warnings only.
  LiveDisplay(LinePrinter& printer, const Clock& screen_clock, const Clock& loop_clock,
              const StudySpec& study, bool quiet);

  void on_phase(const std::string& phase) override;
  void on_planned(const PlannedCourse& course) override;
  void on_trial_started(const TrialRecord& trial) override;
  void on_resumed(const Standing& standing) override;
  void on_trial_ended(const TrialRecord& trial, const Standing& standing) override;
  void on_progress(const std::vector<TrialUnderWay>& running, double elapsed_s) override;
  void on_warning(const std::string& message) override;

  /// Removes the live lines; to be called before anything else is printed.
  void finish();

 private:
  /// Notes what the study's line tells.
  void take(const Standing& standing);
  [[nodiscard]] std::string trial_line(const TrialUnderWay& live) const;
  [[nodiscard]] std::string study_line(double elapsed_s) const;
  /// How much better than the baseline; empty where that says nothing.
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
  std::int64_t trials_done_ = 0;  ///< of the search, former runs' included
  double spent_usd_ = 0.0;
  std::string best_;  ///< `best trial 7: 1.83x`; empty if there is none
};

}  // namespace steptune
