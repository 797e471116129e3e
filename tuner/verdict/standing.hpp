// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/configuration.hpp"
#include "common/document/formula.hpp"
#include "trial_runner/measure/half_widths.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/machine_drift.hpp"
#include "tuner/verdict/trade_offs.hpp"

namespace steptune {

/// The incumbent, and the trials tied with it, are chosen among this many best trials. So a
/// standing needs only some trials of a large history. Shell completion offers as many trials.
inline constexpr std::size_t k_leading_trials = 100;

/// `TrialRecord::origin` of a trial that measures the best configuration with fewer changes. The
/// history stores this text, so it must not change.
inline constexpr const char* k_fewest_changes = "fewest changes";

/// Parts of a study that decide which of two trials is better.
struct RankingRules {
  std::vector<Objective> objectives;
  /// Precision of measuring, as a share of a value.
  double target_half_width = k_usual_half_width;
  double worth = 0.05;  ///< largest expected loss, as a share, that is accepted for fewer changes
  /// Returns the samples per optimizer step of a configuration; nullopt if unknown. May be empty.
  std::function<std::optional<double>(const Configuration&)> samples_per_step;
};
[[nodiscard]] RankingRules ranking_rules(const StudySpec& study);
/// Returns rules from their parts. `batch_size` gives the samples per step.
[[nodiscard]] RankingRules ranking_rules(std::vector<Objective> objectives,
                                         double target_half_width,
                                         std::optional<document::Formula> batch_size);

/// True for trials that may win: completed, with finite objectives, no confirming run. Trials that
/// the scheduler stopped cannot win, because better trials exist. Leaderboards still rank them.
[[nodiscard]] bool may_win(const RankingRules& rules, const TrialRecord& trial);

/// Time and money that a trial takes, start-up and failures included.
struct TrialPrice {
  double seconds = 0.0;
  double usd = 0.0;
};

/// The trials of a study and how they compare. Only this class decides which trial is the baseline,
/// which is the incumbent (the best), and which trials tie with it. It also finds trade-offs and
/// the mean price of a trial.
///
/// A standing knows only the trials that it was given. Some trials suffice for the true baseline,
/// incumbent and ties: the study's baselines, sentinels, confirming runs and its `k_leading_trials`
/// best completed trials (`History::standing_trials`). Front, prices, counts and money are always
/// computed from the given trials alone.
///
/// If the machine drifted, values are compared as they would have been when the baseline ran
/// (`MachineDrift`). Errors then include the uncertainty of the drift. Records keep the measured
/// values.
///
/// Pointers are valid until the next `put`. Not thread safe.
class Standing {
 public:
  /// `ranked_by`: index of the objective by which trials are ordered.
  explicit Standing(RankingRules rules, std::size_t ranked_by = 0);
  /// `trials` may have any order. If two records have the same number, the first counts.
  Standing(RankingRules rules, std::vector<TrialRecord> trials, std::size_t ranked_by = 0);

  /// Adds a trial, or replaces its earlier state. The values of a trial in a final state must not
  /// change, because they are counted only once.
  void put(TrialRecord trial);

  /// Returns all trials in order of number.
  [[nodiscard]] const std::vector<TrialRecord>& trials() const { return trials_; }
  /// Moves all trials out. Afterwards the object knows no trial, but still answers questions about
  /// the machine, values and errors.
  [[nodiscard]] std::vector<TrialRecord> take_trials();
  [[nodiscard]] const TrialRecord* find(std::int64_t number) const;  ///< null if there is none
  [[nodiscard]] const RankingRules& rules() const { return rules_; }

  /// Returns the best trial of this configuration that may win. If none may win, returns the best
  /// trial that the scheduler stopped; null without any.
  [[nodiscard]] const TrialRecord* best_of(const Configuration& configuration) const;

  /// Returns the baseline's measured trial, even if it violates a guard; null without any.
  [[nodiscard]] const TrialRecord* baseline() const;

  /// Returns the `k_leading_trials` best trials that may win, best first, equal values in order of
  /// number. Configurations that a confirming run has refuted are left out.
  [[nodiscard]] std::vector<const TrialRecord*> candidates() const;

  /// Returns trials that the scheduler stopped early, best first, without refuted configurations.
  /// Guards have not judged them, so none is a candidate before its fresh runs.
  [[nodiscard]] std::vector<const TrialRecord*> stopped() const;

  /// Returns the trials of `stopped` whose whole interval is better than the value of `other`.
  [[nodiscard]] std::vector<const TrialRecord*> stopped_ahead_of(const TrialRecord& other) const;

  /// Returns the best candidate; null without any.
  ///
  /// Candidates compete if they are tied with the best (`tied_with`) and have the same value within
  /// the precision of measuring. A candidate with fewer changes also competes if it is expected to
  /// lose at most `worth`. The best of many measurements is partly luck. So the values of both
  /// trials are first moved towards the mean of the tied trials (`shrunk`). The candidate's
  /// measured value must lie within one standard error of the best trial's expected value.
  ///
  /// Among competitors, the fewest changes from the baseline win. If several are left and cost is
  /// the other objective, the lower cost wins if the costs differ by more than their errors. After
  /// that, the smaller batch wins, and last the better value. The baseline, which has no changes,
  /// wins only if it has the best value.
  [[nodiscard]] const TrialRecord* incumbent() const;

  /// Returns numbers of the candidates that may be as good as `leader` or better, in order of
  /// value. This is the multiple comparison with the best of J. C. Hsu, "Constrained simultaneous
  /// confidence intervals for multiple comparisons with the best", Annals of Statistics 12(3),
  /// 1984, with an error of 5 % over all candidates. Errors include the variation between launches.
  /// Trials of the leader's own configuration are left out.
  [[nodiscard]] std::vector<std::int64_t> tied_with(const TrialRecord& leader) const;

  /// Returns the measured Pareto front in order of the ranked objective. These are the numbers of
  /// `leader` and of its `trade_offs` among the trials that may win, without refuted
  /// configurations. The front uses the errors of `tied_with`, so a trial that differs from
  /// `leader` only by noise is no trade-off. Empty for a single objective.
  [[nodiscard]] std::vector<std::int64_t> front(const TrialRecord& leader) const;

  /// Returns a measured trial's value for comparisons: without drift, and with a sign so that less
  /// is better. `objective` is an index of the study's objectives.
  [[nodiscard]] double value(const TrialRecord& trial, std::size_t objective) const;
  /// Returns the standard error of `value` as an estimate for the trial's configuration. The error
  /// includes the variation between launches and the uncertainty of the drift. 0 for a metric that
  /// the program reports.
  [[nodiscard]] double error(const TrialRecord& trial, std::size_t objective) const;
  /// Returns the trial with the values and errors that it would have had when the baseline ran. Its
  /// `level` is the drift that was removed from them. The measurement does not change.
  [[nodiscard]] TrialRecord without_drift(TrialRecord trial) const;

  /// Returns how the machine's speed changed during the search.
  [[nodiscard]] const MachineDrift& drift() const { return drift_; }

  /// Returns the variation between launches of one configuration, estimated from the trials.
  [[nodiscard]] const LaunchVariation& launches() const { return launches_; }

  /// Returns configurations that cannot win: a confirming run of them failed or was infeasible.
  [[nodiscard]] const std::vector<Configuration>& refuted() const { return refuted_; }

  /// Returns the expected price of one more search trial: the mean over all ended search trials,
  /// failed trials included. The baseline counts only while there is no other trial, and without
  /// its longer window (`measure` is the study's). Returns nullopt before the first trial.
  [[nodiscard]] std::optional<TrialPrice> mean_price(const MeasureSpec& measure) const;
  /// Returns the number of search trials that have ended, baseline and hints included.
  [[nodiscard]] std::int64_t ended_search_trials() const { return ended_search_trials_; }
  /// Returns the money spent on all trials, including confirming runs and unfinished trials.
  [[nodiscard]] double spent_usd() const { return spent_usd_; }

 private:
  [[nodiscard]] MachineLevel level_of(const TrialRecord& trial, std::size_t objective) const;
  [[nodiscard]] bool may_be_best(const TrialRecord& trial, const TrialRecord& leader,
                                 std::size_t objective, std::size_t candidates) const;
  [[nodiscard]] std::array<MeasuredValue, 2> compared(const TrialRecord& trial) const;
  [[nodiscard]] bool is_refuted(const TrialRecord& trial) const;
  [[nodiscard]] const TrialRecord* choose_incumbent() const;
  /// Returns the number of settings that differ from the baseline's. Settings that the baseline
  /// lacks do not count.
  [[nodiscard]] std::size_t changes_of(const TrialRecord& trial) const;
  void prefer_fewest_changes(std::vector<const TrialRecord*>& trials) const;
  void prefer_cheapest(std::vector<const TrialRecord*>& trials) const;
  void count_ended(const TrialRecord& trial);
  void estimate_machine(TrialPurpose ended);

  RankingRules rules_;
  std::size_t ranked_by_;
  std::vector<TrialRecord> trials_;
  std::set<std::pair<double, std::int64_t>> by_value_;  ///< trials that may win: value, number
  std::vector<Configuration> refuted_;
  std::int64_t baseline_ = 0;  ///< trial number; 0: none
  /// Trial number; 0: no incumbent; nullopt: the incumbent must be chosen again.
  mutable std::optional<std::int64_t> incumbent_ = 0;
  MachineDrift drift_;
  LaunchVariation launches_;
  TrialPrice ended_total_;
  std::int64_t ended_search_trials_ = 0;
  double spent_usd_ = 0.0;
};

}  // namespace steptune
