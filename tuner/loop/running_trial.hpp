// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "search/early_stopping.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/guards.hpp"
#include "tuner/loop/progress_bound.hpp"
#include "tuner/loop/trial_result.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What a trial has measured that ends at a moment chosen by its own interval. To end as soon as
/// an interval is tight is to look at many and to take one that happens to be too tight: it is
/// widened, by so much that nearly as many hold the truth as should (benchmarks/interval_coverage).
[[nodiscard]] Measurement as_ended(Measurement measurement);

/// Whether a trial that ended now would have measured as surely as the study wants, and on as much.
[[nodiscard]] bool is_tight(const Measurement& measurement, const MeasureSpec& wanted);

/// A trial under way: what it has reported, and whether it is to go on.
class RunningTrial {
 public:
  /// `study` outlives the object. `now_s` serves as the start until `started` tells it.
  RunningTrial(const StudySpec& study, TrialRecord record, double now_s);

  void started(const TrialStarted& event);
  void reported(const Report& report);
  void disturbed(const TrialDisturbed& event);

  /// Looks at the measurement and asks, at most once in a trial's life, for its end. `baseline` is
  /// null until it has been measured. Returns true when the trial is to be stopped now.
  [[nodiscard]] bool wants_to_end(Scheduler& scheduler, Searcher& searcher,
                                  const TrialRecord* baseline);
  /// The same for the time that a trial has; `deadline_s` tells when, infinite if never.
  [[nodiscard]] bool out_of_time(double now_s);
  [[nodiscard]] double deadline_s() const;
  /// Asks for the end on the user's behalf; has no effect if it was asked for before.
  void interrupt();

  /// The trial's final record, from how the runner says it ended.
  [[nodiscard]] TrialRecord finished(const Outcome& outcome, const TrialRecord* baseline,
                                     double wall_time_s);

  [[nodiscard]] const TrialRecord& record() const { return record_; }
  [[nodiscard]] double started_s() const { return started_s_; }
  /// What a billed second of the trial's machines costs, and the most that a second can.
  [[nodiscard]] double usd_per_billed_s() const { return usd_per_billed_s_; }
  [[nodiscard]] const Measurement& measurement() const { return measurer_.current(); }
  [[nodiscard]] TrialKey key() const { return {record_.number, record_.attempt}; }

 private:
  [[nodiscard]] bool is_searched() const;
  [[nodiscard]] bool is_measured() const;
  [[nodiscard]] bool is_given_up(Scheduler& scheduler, Searcher& searcher,
                                 const TrialRecord* baseline);
  [[nodiscard]] bool ask_for_end(EndRequest request, std::string reason);
  /// The measurement that counts, and what it is worth.
  [[nodiscard]] Measurement final_measurement() const;

  const StudySpec* study_;
  TrialRecord record_;
  Measurer measurer_;
  ProgressBound progress_;
  EarlyStopping early_stopping_;
  GuardedValues guarded_;
  double usd_per_hour_;  ///< as the planned run is expected to be billed
  double usd_per_billed_s_;
  double started_s_;
  double told_resource_ = -1.0;  ///< that the scheduler has seen
  EndRequest request_ = EndRequest::none;
  std::string request_reason_;
  double requested_s_ = 0.0;
  /// As it was when the scheduler gave the trial up: what follows until it is gone counts no more.
  std::optional<Measurement> given_up_;
};

}  // namespace steptune
