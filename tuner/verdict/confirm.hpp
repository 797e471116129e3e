// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/speed_up.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// A configuration that the search found and that is confirmed against the baseline.
struct Finalist {
  Configuration configuration;
  std::vector<RunPair> pairs;  ///< pairs of measured runs, in order; valid like the confirmation
  bool failed = false;         ///< a confirming run of this configuration failed or was infeasible
  SpeedUp speed_up;  ///< speed-up that the pairs show, at this finalist's share of the error; NaN
                     ///< without pairs
  Verdict verdict = Verdict::open;
  bool settled = false;  ///< more runs are not worthwhile
};

/// The next run of the confirmation.
struct ConfirmStep {
  TrialPurpose purpose = TrialPurpose::confirm_incumbent;
  int round = 1;  ///< stored as the run's `confirm_pair`
  Configuration configuration;
};

/// Limits of the confirmation.
struct ConfirmLimits {
  bool another_round = true;  ///< time and money allow another round
  std::size_t together = 1;   ///< finalists that may run side by side
};

/// Plans and judges the confirming runs. These are fresh runs that show if the search found
/// something faster than the baseline.
///
/// Runs come in rounds: one run of each open finalist and one of the baseline. The order of the
/// runs alternates (A B, then B A), so that a drift affects both sides. After each of its pairs a
/// finalist is judged, and it continues while its verdict is open. Finalists that the search cannot
/// distinguish run together. When all finalists are judged and none is faster, the next best
/// configuration of the search follows. The last finalists are configurations that the scheduler
/// stopped although they were ahead of the baseline. The scheduler preferred other configurations,
/// which fresh runs did not show to be faster. If a finalist is faster and time is left, the next
/// finalist is a tied configuration with only a part of its changes.
///
/// If other programs disturbed a run much, it is repeated once when its round is over. This needs
/// time and money, and does not happen if disturbance is usual (`disturbance_is_usual`). The less
/// disturbed of the two runs counts. Only the disturbance decides if a run is repeated, never its
/// measurement.
///
/// A failed run of the baseline is repeated once, because one failure may be an accident. After a
/// second failure nothing more is confirmed.
///
/// If a study confirms each configuration (`MeasureSpec::confirm_all`), all of them are finalists
/// from the first round on. They share the error equally, and may be judged faster, slower or tied.
/// The error of "faster" may be smaller (`MeasureSpec::confirm_error`).
///
/// The study's configuration in use (`MeasureSpec::in_use`) is a finalist, too, if its search trial
/// may win. This configuration runs in its own rounds and in every round of other finalists.
///
/// The finalists divide the error of claiming "faster". The first finalist has three quarters of
/// the error. Each further finalist has three quarters of the rest. Each finalist's share is
/// divided among its looks (`error_of_look`). So if no configuration is faster, at most one study
/// in forty claims a faster configuration, unless studies continue after a last look. The interval
/// covers the true ratio in 95 % of studies, whenever the confirmation stops. Both are true if
/// launches differ as `PairError` assumes. benchmarks/null_studies has figures for launches that
/// differ more.
class Confirmation {
 public:
  /// `study` and `standing` outlive the object. `is_over`: time or money ended the confirmation. So
  /// finalists that are not settled have their last look now (`LookPlan::last`).
  Confirmation(const StudySpec& study, const Standing& standing, bool is_over = false);

  /// Returns the finalists in the order of their first runs.
  [[nodiscard]] const std::vector<Finalist>& finalists() const { return finalists_; }

  /// Returns the number of further pairs that would probably decide about a finalist
  /// (`further_pairs`); NaN if its verdict is not open.
  [[nodiscard]] double further_pairs_of(std::size_t finalist) const;

  /// Returns the finalist to recommend; null if none was shown to be faster. This is the finalist
  /// with the largest speed-up. If two speed-ups are the same within the precision of measuring,
  /// the earlier finalist is preferred. A finalist with fewer changes is preferred unless the whole
  /// interval of the other finalist lies above its speed-up.
  [[nodiscard]] const Finalist* winner() const;

  /// Returns the next run; nullopt if the confirmation is complete. The first run is always
  /// started, and a round is always finished, whatever the limits.
  [[nodiscard]] std::optional<ConfirmStep> next_step(const ConfirmLimits& limits) const;

  /// Returns the number of runs in the next round: the finalists, the baseline and the
  /// configuration in use.
  [[nodiscard]] std::size_t runs_in_next_round() const;

  /// Returns the number of runs that the round of `run` still has, `run` included. `run` is a
  /// confirming run.
  [[nodiscard]] std::size_t runs_left_in_round(const TrialRecord& run) const;

  /// True if confirming runs of the baseline failed so often that nothing more is confirmed.
  [[nodiscard]] bool baseline_failed() const { return baseline_failed_; }

  /// True if a further finalist may still be confirmed.
  [[nodiscard]] bool may_confirm_more() const;

  /// Returns the finalists of the first round: all configurations if each is confirmed, otherwise
  /// at most `most`:
  /// - the incumbent, and configurations that cannot be distinguished from it and look better than
  ///   the baseline;
  /// - if the baseline is the best, and its program ends without a steady state: all configurations
  ///   that cannot be distinguished from the incumbent;
  /// - if none looks better: the best configuration whose gain may still reach `search.worth`, if
  ///   time is left;
  /// - if no trial may win, for example because all violate a limit: the best trial that was
  ///   stopped early;
  /// - in addition to `most`, the configuration in use, if its search trial may win.
  [[nodiscard]] std::vector<Configuration> contenders(std::size_t most) const;

 private:
  /// Finds the finalists, and for each finalist the runs whose round has a run of the baseline.
  void pair_runs(const std::vector<const TrialRecord*>& runs);
  void judge_finalist(std::size_t index, bool is_last);
  /// Decides if the configuration in use is settled, after all other finalists were judged. It
  /// continues as long as another finalist does, and until it has run in the requested rounds.
  void settle_in_use(const ConfigurationInUse& in_use);
  /// Returns both errors of the finalist at `index`. The two are equal unless each configuration is
  /// confirmed.
  [[nodiscard]] BothErrors errors_of(std::size_t index) const;
  /// Returns all measured configurations but the baseline, in the order of their trials.
  [[nodiscard]] std::vector<Configuration> all_others() const;
  /// Returns the search trial of the study's configuration in use; null if there is none that may
  /// win.
  [[nodiscard]] const TrialRecord* in_use() const;
  /// True if the trial's gain may still reach `search.worth`, and `may_use_left_time` is true.
  [[nodiscard]] bool may_be_worth_it(const TrialRecord& trial) const;
  /// True if a finalist has more changes than `other` and is not measurably better than `other`.
  [[nodiscard]] bool has_needless_changes(const Finalist& finalist, const Finalist& other) const;
  [[nodiscard]] bool is_preferred(const Finalist& finalist, const Finalist& other) const;
  /// Returns the best configuration that has a part of the finalist's changes and is tied with it.
  /// Returns nullopt if there is none, or if the study may not use the rest of its time for it
  /// (`may_use_left_time`). So a change of one lucky trial is not recommended if the configuration
  /// is as fast without it.
  [[nodiscard]] std::optional<Configuration> simpler_than(const Finalist& finalist) const;
  [[nodiscard]] std::vector<Configuration> in_round(std::size_t together) const;
  [[nodiscard]] std::optional<Configuration> next_in_turn() const;
  [[nodiscard]] std::optional<ConfirmStep> disturbed_run() const;
  [[nodiscard]] std::optional<ConfirmStep> rest_of_round() const;
  [[nodiscard]] bool was_run(const Configuration& configuration, int round) const;
  [[nodiscard]] bool was_tried(const Configuration& configuration) const;

  const StudySpec* study_;
  const Standing* standing_;
  /// Confirming runs with the same phases, if there are any. Pairs then point to them, so copies of
  /// this object share them.
  std::shared_ptr<const std::vector<TrialRecord>> priced_alike_;
  /// Launches that show, besides the pairs, how much launches differ.
  std::optional<KnownLaunches> known_ = k_launches_by_pairs;
  std::vector<Finalist> finalists_;
  int last_round_ = 0;
  bool baseline_failed_ = false;
};

/// Finalists are confirmed in turn until this many were not shown to be faster.
inline constexpr std::size_t k_most_finalists = 3;

/// Returns the one-sided error of each configuration if all of them are confirmed
/// (`MeasureSpec::confirm_all`).
[[nodiscard]] double error_of_each(const StudySpec& study);

}  // namespace steptune
