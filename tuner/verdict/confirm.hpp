// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/speed_up.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// A configuration that the search found, confirmed against the baseline.
struct Finalist {
  Configuration configuration;
  std::vector<RunPair> pairs;  ///< both runs measured, in order
  bool failed = false;         ///< a fresh run of it failed or was infeasible
  SpeedUp speed_up;            ///< of the pairs, at its share of the error; NaN without any
  Verdict verdict = Verdict::open;
  bool settled = false;  ///< more runs are not worth it
};

/// The run that is to come next.
struct ConfirmStep {
  TrialPurpose purpose = TrialPurpose::confirm_incumbent;
  int round = 1;  ///< stored as the run's `confirm_pair`
  Configuration configuration;
};

/// How much confirming there may be.
struct ConfirmLimits {
  bool another_round = true;  ///< time and money allow one
  std::size_t together = 1;   ///< finalists that may run side by side
};

/// The fresh runs that say whether what the search found is faster than the baseline, as they stand
/// in the history.
///
/// Runs come in rounds: one of each finalist that is still open and one of the baseline, in turn
/// forwards and backwards (A B B A), so that what drifts meets both. A finalist is looked at after
/// each of its pairs and goes on while its verdict is open. The finalists that the search cannot
/// tell apart run together; when all are judged and none is faster, the next best takes its turn,
/// last of all what the scheduler stopped although it lay ahead of the baseline: what it was
/// stopped for was no better.
///
/// A run that others disturbed much is done once more for its round, when a round is over, where
/// time and money allow and that is not usual; of the two the one that was disturbed less counts.
/// Whether it is done again depends on the others alone, not on what it measured.
///
/// A run of the baseline that failed is done once more, since one failure may be an accident; after
/// a second one nothing more is confirmed.
///
/// The study's companion (`MeasureSpec::companion`) is a finalist, too, if its trial of the search
/// may win; it runs in its own rounds and in every round of another one.
///
/// The error of claiming "faster" is shared: half of it for the first finalist, a quarter for the
/// second, and so on, and within each over the looks (`share_of_look`), so that the claim is made
/// at most once in forty studies in which nothing is faster, and its interval holds in 95 % of
/// them, whenever it stops (union bound; spending as in K. K. G. Lan and D. L. DeMets, "Discrete
/// sequential boundaries for clinical trials", Biometrika 70(3), 1983).
class Confirmation {
 public:
  /// Both outlive the object.
  Confirmation(const StudySpec& study, const Standing& standing);

  /// In the order of their first runs.
  [[nodiscard]] const std::vector<Finalist>& finalists() const { return finalists_; }

  /// The one to recommend: of those shown to be faster the one with the largest speed-up, or an
  /// earlier one that is within the precision of measuring of it, or that has fewer changes and is
  /// within its interval. Null if there is none.
  [[nodiscard]] const Finalist* winner() const;

  /// Nothing when all is said. The first run is begun and a round begun is finished whatever the
  /// limits.
  [[nodiscard]] std::optional<ConfirmStep> next_step(const ConfirmLimits& limits) const;

  /// Runs that the round after this one would have: its finalists, the baseline, the companion.
  [[nodiscard]] std::size_t runs_in_next_round() const;

  /// Runs that the round of `run`, which is one of its own, still has: itself included.
  [[nodiscard]] std::size_t runs_left_in_round(const TrialRecord& run) const;

  /// Whether fresh runs of the baseline failed so often that nothing more is confirmed.
  [[nodiscard]] bool baseline_failed() const { return baseline_failed_; }

  /// Whether a further finalist could still be shown to be faster.
  [[nodiscard]] bool may_take_turns() const;

  /// The finalists of the first round, at most `most`: the incumbent, and of what cannot be told
  /// from it what looks better than the baseline. Where that is the best itself, of a program that
  /// ends without a steady state, all that cannot be told from it. If none looks better, the best
  /// whose gain may still be worth it, as far as time is left. Where nothing may win, as where
  /// all that were measured to their end violate a limit, the best of those that were stopped.
  [[nodiscard]] std::vector<Configuration> contenders(std::size_t most) const;

 private:
  /// Finds the finalists, and of each the runs that have one of the baseline beside them.
  void pair_runs(const std::vector<const TrialRecord*>& runs);
  /// `error`: one-sided, this finalist's share.
  void judge_finalist(Finalist& finalist, double error, const LaunchVariation& known) const;
  /// When all are judged: it goes on as long as another one does.
  void settle_companion(const ConfirmCompanion& companion);
  /// Trial of the search of the study's companion; null if there is none that may win.
  [[nodiscard]] const TrialRecord* companion() const;
  /// True if the search's trials do not exclude a gain of `search.worth`, and time that is left may
  /// go to such a question.
  [[nodiscard]] bool may_be_worth_it(const TrialRecord& trial) const;
  /// True if a finalist has more changes than another one and is not measurably better.
  [[nodiscard]] bool has_needless_changes(const Finalist& finalist, const Finalist& other) const;
  [[nodiscard]] std::vector<Configuration> in_round(std::size_t together) const;
  [[nodiscard]] std::optional<Configuration> next_in_turn() const;
  [[nodiscard]] std::optional<ConfirmStep> disturbed_run() const;
  [[nodiscard]] std::optional<ConfirmStep> rest_of_round() const;
  [[nodiscard]] bool was_run(const Configuration& configuration, int round) const;
  [[nodiscard]] bool was_tried(const Configuration& configuration) const;

  const StudySpec* study_;
  const Standing* standing_;
  std::vector<Finalist> finalists_;
  int last_round_ = 0;
  bool baseline_failed_ = false;
};

/// Finalists are confirmed in turn until so many were not shown to be faster.
inline constexpr std::size_t k_most_finalists = 3;

/// True for a fresh run of a finalist that failed or was infeasible: its configuration is no
/// winner.
[[nodiscard]] bool refutes(const TrialRecord& trial);

}  // namespace steptune
