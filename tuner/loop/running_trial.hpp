// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "search/early_stopping.hpp"
#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/end_cause.hpp"
#include "tuner/loop/trial_reports.hpp"
#include "tuner/loop/trial_targets.hpp"
#include "tuner/loop/trial_view.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// A running trial. Collects its events and decides when it ends.
class RunningTrial {
 public:
  /// `study` outlives the object. `now_s` counts as the start time until `started` gives the real
  /// start time.
  RunningTrial(const StudySpec& study, TrialRecord record, double now_s, TrialTargets targets);

  void started(const TrialStarted& event);
  /// Returns true if the program's counter has started again. Earlier estimates then do not count.
  bool reported(const Report& report);
  void disturbed(const TrialDisturbed& event);
  /// Returns true if the trial cannot be interleaved and must be stopped for that reason.
  [[nodiscard]] bool paused(const TrialPaused& event);

  /// Checks the measurement, and asks for the trial's end at most once in its life. `baseline` is
  /// null until it has been measured. Returns true if the trial is to be stopped now.
  [[nodiscard]] bool wants_to_end(Scheduler& scheduler, Searcher& searcher,
                                  const TrialRecord* baseline);
  /// Checks the trial's time limits in the same way. Returns true if the trial is to be stopped
  /// now.
  [[nodiscard]] bool out_of_time(double now_s);
  /// Returns when the next time limit is reached; infinite if never.
  [[nodiscard]] double deadline_s() const;
  /// Asks for an end after which the trial can be launched again (`interrupts`). Returns false and
  /// does nothing if an end was already asked for.
  bool interrupt(EndRequest request) { return ask_for_end({request}); }
  /// Asks for an end as failed, because the trial's output contains no reports. Returns false and
  /// does nothing if an end was already asked for.
  bool refuse(std::string why) { return ask_for_end({EndRequest::silent, std::move(why)}); }

  /// Returns the trial's final record. `outcome`: the end as the runner reports it. `beside`: turns
  /// of the baseline's run in the trial's round; empty if there is no such run.
  [[nodiscard]] TrialRecord finished(const Outcome& outcome, const TrialRecord* baseline,
                                     double wall_time_s, std::span<const Interval> beside = {});

  /// Returns the trial's events for the history, including the points at both ends of the window of
  /// `measured`. `measured`: the measurement from `finished`; nullopt if there is none.
  [[nodiscard]] TrialTrace trace(const std::optional<Measurement>& measured) const;

  [[nodiscard]] const TrialRecord& record() const { return record_; }
  [[nodiscard]] double started_s() const { return reports_.started_s(); }
  /// Returns the seconds that the trial has run, without pauses.
  [[nodiscard]] double ran_s(double now_s) const {
    return reports_.without_pauses_s(now_s) - started_s();
  }
  /// True if the trial failed next to another trial, or could not be stopped for another trial.
  /// False for search trials: a new configuration may fail for other reasons, so it is tried again
  /// without another trial.
  [[nodiscard]] bool cannot_be_interleaved() const {
    return cause_.request == EndRequest::interleaved && !is_searched(record_.purpose);
  }
  /// True if the trial had to end because its share of a time budget was used up before enough was
  /// measured.
  [[nodiscard]] bool lacked_time() const { return cause_.request == EndRequest::no_time; }
  /// True if a report since the trial's start had samples or steps.
  [[nodiscard]] bool has_reported_progress() const { return reports_.has_reported_progress(); }
  /// Returns the on-demand price of a second of the trial's machines, the most that a second can
  /// cost.
  [[nodiscard]] double usd_per_billed_s() const { return usd_per_billed_s_; }
  [[nodiscard]] const Measurement& measurement() const { return reports_.measurement(); }
  /// Returns the turns so far, if the trial is interleaved.
  [[nodiscard]] const std::vector<Interval>& turns() const { return reports_.turns(); }
  /// Returns the number of the trial's interleaved round; 0 if it is not interleaved.
  [[nodiscard]] int round() const { return targets_.interleaved_round; }
  [[nodiscard]] TrialKey key() const { return {record_.number, record_.attempt}; }

 private:
  [[nodiscard]] TrialView view(const TrialRecord* baseline = nullptr) const {
    return {*study_, record_, targets_, reports_, usd_per_hour_, baseline};
  }
  /// True if the trial has started and its end was not asked for.
  [[nodiscard]] bool has_limits() const;
  /// Returns which settings have no effect although the program has been training for a while.
  [[nodiscard]] std::optional<std::string> settled_difference() const;
  /// Gives the measurement to the scheduler. Returns why the scheduler stops the trial; nullopt if
  /// the trial continues.
  [[nodiscard]] std::optional<std::string> given_up(const TrialView& trial, Scheduler& scheduler,
                                                    Searcher& searcher);
  /// Forgets all estimates that the scheduler has seen.
  void forget_estimates();
  /// True if the trial is to be repeated in a study with more time.
  [[nodiscard]] bool is_measured_too_little() const;
  /// Returns false and does nothing if an end was already asked for.
  bool ask_for_end(TrialEndCause cause);

  const StudySpec* study_;
  TrialTargets targets_;
  TrialRecord record_;
  TrialReports reports_;
  std::vector<DisturbedTime> disturbed_;
  double disturbed_until_s_ = 0.0;
  std::vector<MachineSecond> machine_;  ///< the machine's figures of each second, from the outcome
  std::vector<TrialDecision> decisions_;
  EarlyStopping early_stopping_;
  std::optional<double> steps_seen_by_scheduler_;  ///< window steps that the scheduler has seen
  TrialEndCause cause_;
  double usd_per_hour_;  ///< expected price of the planned run, in USD per hour
  double usd_per_billed_s_;
};

}  // namespace steptune
