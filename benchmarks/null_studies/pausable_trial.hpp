// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "benchmarks/null_studies/neighbours.hpp"
#include "trial_runner/replay/replay_trial.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::null_studies {

/// A replayed trial beside neighbours, which can be paused. The replay counts seconds of work on an
/// idle machine, and so do the trial's limits. Neighbours and pauses make these times longer on the
/// study's clock. As with local trials, reports and the outcome leave pauses out.
class PausableTrial {
 public:
  /// Starts the trial at `now_s`. `round` is its `TrialSpec::interleaved_round`. `neighbours` must
  /// outlive the object.
  PausableTrial(ReplayTrial::Plan plan, int round, Neighbours& neighbours, double now_s);

  [[nodiscard]] TrialKey key() const { return replay_.key(); }
  [[nodiscard]] int round() const { return round_; }
  [[nodiscard]] std::int64_t progress_reports() const { return progress_reports_; }
  /// True once its end was requested.
  [[nodiscard]] bool is_ending() const { return is_ending_; }
  [[nodiscard]] bool has_ended() const;
  /// Returns the seconds of the trial, without pauses, in which a neighbour was busy.
  [[nodiscard]] double disturbed_s() const { return disturbed_s_; }

  /// Returns the time of the next event; infinite while the trial is paused and after its end.
  [[nodiscard]] double next_s() const;
  [[nodiscard]] TrialEvent next();

  void pause(double now_s, std::vector<TrialEvent>& events);
  /// Continues a paused trial; otherwise does nothing.
  void resume(double now_s, std::vector<TrialEvent>& events);
  /// Ends the trial after at most `delay_s` seconds of work. Resumes a paused trial first, as the
  /// local runner does.
  void stop(double now_s, double delay_s);

 private:
  void leave_pause(double now_s);
  /// Adds the work and the disturbed time since `since_s_`.
  void count_work(double now_s);

  ReplayTrial replay_;
  Neighbours* neighbours_;
  int round_;
  double started_s_;
  double work_s_ = 0.0;  ///< seconds of work done until `since_s_`
  double since_s_;
  double disturbed_s_ = 0.0;
  std::optional<double> paused_since_s_;
  double paused_s_ = 0.0;  ///< total length of the ended pauses
  std::int64_t progress_reports_ = 0;
  bool is_ending_ = false;
};

}  // namespace steptune::null_studies
