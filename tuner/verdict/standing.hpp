// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/configuration.hpp"
#include "common/document/formula.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/machine_drift.hpp"
#include "tuner/verdict/trade_offs.hpp"

namespace steptune {

/// The incumbent and what is tied with it are chosen among this many leading trials, so that a
/// standing can be read from a history however many trials that holds.
inline constexpr std::size_t k_leading_trials = 100;

/// `TrialRecord::origin` of a trial that measures the best configuration with fewer changes.
/// Persistent.
inline constexpr const char* k_fewest_changes = "fewest changes";

/// What of a study decides which of its trials is better.
struct RankingRules {
  std::vector<Objective> objectives;
  double target_half_width = 0.02;  ///< precision of measuring, as a share of a value
  double worth = 0.05;  ///< share that a trial with fewer changes is expected to lose at most
  /// Samples per optimizer step of a configuration, nothing where unknown; may be empty.
  std::function<std::optional<double>(const Configuration&)> samples_per_step;
};
[[nodiscard]] RankingRules ranking_rules(const StudySpec& study);
/// The same from parts: `batch_size` is the samples per step.
[[nodiscard]] RankingRules ranking_rules(std::vector<Objective> objectives,
                                         double target_half_width,
                                         std::optional<document::Formula> batch_size);

/// True for trials that may win: completed, finite objectives, no confirmation. Trials that the
/// scheduler stopped are ranked in leaderboards, but were stopped because others are better.
[[nodiscard]] bool may_win(const RankingRules& rules, const TrialRecord& trial);

/// What a trial takes, start-up and failures included.
struct TrialPrice {
  double seconds = 0.0;
  double usd = 0.0;
};

/// The trials of a study and how they compare: the one place that says which trial is the baseline,
/// which is best, what is tied with it, what is a trade-off against it, and what a trial takes on
/// average. Whoever needs any of these (loop, display, leaderboard, recommendation) asks it.
///
/// It knows the trials that it was given. For the baseline, the incumbent and its ties these need
/// be no more than the study's baselines, sentinels, confirming runs and its `k_leading_trials`
/// best completed trials (`History::standing_trials`); the answers are then those of all trials.
/// The front is that of the trials given, and so are prices, counts and money.
///
/// Where the machine drifted, values are compared as they would have been when the baseline ran
/// (`MachineDrift`), with the error of that; records keep what was measured.
///
/// Pointers are valid until the next `put`. Not thread safe.
class Standing {
 public:
  /// `ranked_by`: the objective that the order of the trials follows.
  explicit Standing(RankingRules rules, std::size_t ranked_by = 0);
  /// In any order; of a trial that is given twice, the first counts.
  Standing(RankingRules rules, std::vector<TrialRecord> trials, std::size_t ranked_by = 0);

  /// Takes a trial in, in place of what it was before. A trial in a final state does not change.
  void put(TrialRecord trial);

  /// In order of number.
  [[nodiscard]] const std::vector<TrialRecord>& trials() const { return trials_; }
  /// Hands them out and knows none of them from then on; what it says of the machine, of values and
  /// of errors stays.
  [[nodiscard]] std::vector<TrialRecord> take_trials();
  [[nodiscard]] const TrialRecord* find(std::int64_t number) const;  ///< null if there is none
  [[nodiscard]] const RankingRules& rules() const { return rules_; }

  /// The best trial that may win, of those that measured this configuration, else the best of those
  /// that the scheduler stopped; null if there is none.
  [[nodiscard]] const TrialRecord* best_of(const Configuration& configuration) const;

  /// The baseline's trial that was measured, whether or not it respects the guards, else null.
  [[nodiscard]] const TrialRecord* baseline() const;

  /// Of the `k_leading_trials` best trials that may win those whose configuration no confirming run
  /// has refuted, best first; equal values in order of number.
  [[nodiscard]] std::vector<const TrialRecord*> candidates() const;

  /// Trials that were stopped early, since others led, and that no confirming run has refuted; best
  /// first. No guard has judged them, so none is a candidate before fresh runs have shown it to be.
  [[nodiscard]] std::vector<const TrialRecord*> stopped() const;

  /// Those of them whose whole interval lies ahead of the value of `other`.
  [[nodiscard]] std::vector<const TrialRecord*> stopped_ahead_of(const TrialRecord& other) const;

  /// The best candidate, or null if there is none. Candidates compete if they cannot be told from
  /// the best (`tied_with`) and their values are within the precision of measuring. One with fewer
  /// changes competes, too, if it is expected to be at most `worth` behind. The best of many
  /// measurements is partly luck, so both values are shrunk to the mean of those that are tied
  /// (`shrunk`), and its own value must lie within one standard error of the best one's expected
  /// value. The fewest changes from the baseline win, then the cheaper one (if cost is the other
  /// objective and the intervals tell the costs apart), then the smaller batch, then the better
  /// value. The baseline itself wins by its changes only if it is the best.
  [[nodiscard]] const TrialRecord* incumbent() const;

  /// Numbers of the candidates that may be as good as `leader` or better, in order of value: the
  /// multiple comparison with the best of J. C. Hsu, "Constrained simultaneous confidence intervals
  /// for multiple comparisons with the best", Annals of Statistics 12(3), 1984, at 5 % in all, with
  /// what launches differ by in every error. Trials of the leader's own configuration are left out.
  [[nodiscard]] std::vector<std::int64_t> tied_with(const TrialRecord& leader) const;

  /// The Pareto front as far as it was measured: numbers of `leader` and of its `trade_offs` among
  /// the trials that may win and that no confirming run has refuted, in order of the ranked
  /// objective. The errors are those of `tied_with`, so that `leader` stands alone where others
  /// differ by noise. Empty for a single objective.
  [[nodiscard]] std::vector<std::int64_t> front(const TrialRecord& leader) const;

  /// A measured trial's value as it is compared: turned so that less is better, and without drift.
  /// `objective` indexes the study's.
  [[nodiscard]] double value(const TrialRecord& trial, std::size_t objective) const;
  /// Its standard error as that of its configuration: what launches differ by and how surely the
  /// drift is known included. 0 for a metric that the program reports.
  [[nodiscard]] double error(const TrialRecord& trial, std::size_t objective) const;
  /// A copy with its values and their own errors as they would have been when the baseline ran.
  [[nodiscard]] TrialRecord without_drift(TrialRecord trial) const;

  /// How the machine changed while the search went on.
  [[nodiscard]] const MachineDrift& drift() const { return drift_; }

  /// How much launches of one configuration differ, as far as its trials tell.
  [[nodiscard]] const LaunchVariation& launches() const { return launches_; }

  /// Configurations of which a confirming run failed or was infeasible: they are no winners.
  [[nodiscard]] const std::vector<Configuration>& refuted() const { return refuted_; }

  /// What one more trial of the search is expected to take: the mean over those that have ended,
  /// however they ended. The baseline, which is looked at for longer (`measure` is the study's),
  /// counts only while there is no other, and without that. Nothing before the first trial.
  [[nodiscard]] std::optional<TrialPrice> mean_price(const MeasureSpec& measure) const;
  /// Trials of the search that have ended, baseline and hints included.
  [[nodiscard]] std::int64_t ended_search_trials() const { return ended_search_trials_; }
  /// Spent on all trials, confirming runs and unfinished ones included.
  [[nodiscard]] double spent_usd() const { return spent_usd_; }

 private:
  [[nodiscard]] MachineLevel level_of(const TrialRecord& trial, std::size_t objective) const;
  [[nodiscard]] bool may_be_best(const TrialRecord& trial, const TrialRecord& leader,
                                 std::size_t objective, std::size_t candidates) const;
  [[nodiscard]] ComparedTrial compared(const TrialRecord& trial) const;
  [[nodiscard]] bool is_refuted(const TrialRecord& trial) const;
  [[nodiscard]] const TrialRecord* choose_incumbent() const;
  /// Settings that differ from the baseline's; those that the baseline lacks are not counted.
  [[nodiscard]] std::size_t changes_of(const TrialRecord& trial) const;
  void prefer_fewest_changes(std::vector<const TrialRecord*>& trials) const;
  void prefer_cheapest(std::vector<const TrialRecord*>& trials) const;
  void count_ended(const TrialRecord& trial);
  void estimate_machine(TrialPurpose ended);

  RankingRules rules_;
  std::size_t ranked_by_;
  std::vector<TrialRecord> trials_;
  std::set<std::pair<double, std::int64_t>> by_value_;  ///< those that may win: value, number
  std::vector<Configuration> refuted_;
  std::int64_t baseline_ = 0;  ///< trial number; 0: none
  /// Trial number, 0: none; nothing: to be chosen anew.
  mutable std::optional<std::int64_t> incumbent_ = 0;
  MachineDrift drift_;
  LaunchVariation launches_;
  TrialPrice ended_total_;
  std::int64_t ended_search_trials_ = 0;
  double spent_usd_ = 0.0;
};

}  // namespace steptune
