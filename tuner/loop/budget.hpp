// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tuner/loop/standing.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What a study has used up, over all runs of the tuner.
struct Spending {
  std::int64_t search_trials = 0;  ///< begun: baseline, hints and search
  double elapsed_s = 0.0;
  double usd = 0.0;  ///< trials under way included
  /// The least that another trial takes: what the shortest and the cheapest one took that were
  /// measured, or where that is the baseline alone, the share of a trial of the search. Of money
  /// the baseline counts with its longer look: what others cost is not known before there are any.
  double least_trial_s = 0.0;
  double least_trial_usd = 0.0;
  /// What one pair of confirming runs is expected to take, and how short it may be where less time
  /// is left: twice its least window each, or a whole run where that has no steady state.
  double confirm_pair_s = 0.0;
  double confirm_pair_usd = 0.0;
  double least_confirm_pair_s = 0.0;
  /// There is something to prove: another configuration than the baseline was measured or, where
  /// the program that is tuned runs already, is the best so far.
  bool has_contender = false;
  int confirming_runs = 0;  ///< measured
  /// What would be confirmed ends by itself without a steady state: a claim takes one pair more.
  bool ends_unsteady = false;
};

/// From the trials recorded; `elapsed_s` and what runs at present are the caller's to add. Fresh
/// runs are measured `k_longer_window` times as long as the trials of the search, or for their
/// share of a budget of time; once there are some, what they took counts.
[[nodiscard]] Spending spending_of(const StudySpec& study, const Standing& standing);

/// The same without what the fresh runs of the latest confirmation took: as the search was ended.
/// Money is what has been spent by now.
[[nodiscard]] Spending spending_before_confirming(const StudySpec& study, const Standing& standing);

/// So many times longer is a confirming run's window than that of a trial: a buffer takes time to
/// drain.
inline constexpr double k_longer_window = 2.0;

/// A limit of the budget. Persistent names.
enum class BudgetLimit { trials, time, cost };
[[nodiscard]] std::string to_text(BudgetLimit limit);
[[nodiscard]] std::optional<BudgetLimit> budget_limit_from_text(std::string_view text);

/// The limit that allows no further trial of the search.
struct SpentBudget {
  BudgetLimit limit = BudgetLimit::trials;
  std::string text;  ///< for people: `40 trials`, `30 min of tuning time`, `$5.00`
};

/// Returns why no further search trial may begin; nothing while one may. A trial that the budget
/// cannot pay the least for is not begun.
/// Two fifths of time and money at most are kept for the confirmation, or half for the pairs that a
/// claim takes; of a search that goes on after one (`confirmed`) no more than for these; of time
/// no more than these take at the least, and of money what they take, while there is nothing to
/// prove (`has_contender`).
/// A budget of time may be overrun by the first pair at its least (`latest_end_s`), one of money by
/// the last trial and by the first pair, where it is none of time (`with_money_as_time`) and
/// nothing bounds it (`can_risk_a_trial`).
[[nodiscard]] std::optional<SpentBudget> search_budget_spent(const StudySpec& study,
                                                             const Spending& spending,
                                                             bool confirmed = false);

/// `study` with its budget of money as one of time, where the money is this machine's: trials run
/// one at a time (`capacity` is 1), and the machine has its price whatever runs on it. So shares,
/// ends of trials and what is kept for a proof are those of a time. Others as they are.
[[nodiscard]] StudySpec with_money_as_time(StudySpec study, int capacity);

/// What `search_budget_spent` says of time: `10 min of tuning time`, or `$5.00` where that is what
/// it costs. `budget` has a time.
[[nodiscard]] SpentBudget spent_time(const BudgetSpec& budget);
/// Why a trial was ended: `the tuning time (10 min) was over`, or `the budget of $5.00 was spent`.
[[nodiscard]] std::string time_over_text(const BudgetSpec& budget);

/// Whether no time is left for a further search trial, as above; false without such a budget.
[[nodiscard]] bool search_time_spent(const StudySpec& study, const Spending& spending,
                                     bool confirmed = false);

/// Whether money allows one more trial of whatever price: what has been spent and the most that the
/// trials under way can cost (`bound_usd`) are within the budget, so that it is overrun by less
/// than the bound of a single trial. Always true without a budget of money.
[[nodiscard]] bool can_risk_a_trial(const StudySpec& study, double spent_usd, double bound_usd);

/// The tuning time at which a trial of the search, or the baseline, is ended with what it has
/// measured: the end of a budget of time, less for any but the baseline what a proof's first pair
/// takes at the least, up to half of the budget. Of a confirming run the budget's end. Infinite
/// without such a budget.
[[nodiscard]] double latest_end_s(const StudySpec& study, const Spending& spending,
                                  TrialPurpose purpose);

/// How long a trial of the search may take to its first step, where time is limited: a fifth of
/// the search's time longer than the baseline did, or a larger share where there are fewer trials
/// than four to divide it among. What compiles for minutes would otherwise leave no time for
/// anything else. Infinite for other trials, and without a measured baseline.
[[nodiscard]] double longest_start_s(const StudySpec& study, TrialPurpose purpose,
                                     const TrialRecord* baseline);

/// Whether a trial was ended because its first step took longer than that, and the study now has
/// time for a longer start.
[[nodiscard]] bool may_start_longer(const StudySpec& study, const TrialRecord& trial,
                                    const TrialRecord* baseline);

/// After how long a trial has had its share of a budget of time, start-up not counted: the search
/// gets about 60 % of the budget, for as many trials as budget and search space allow, at most 20,
/// and fewer where more of them would start for longer than they are measured; each gets at least
/// twice the least window. A baseline's share is twice as large, and so is that
/// of a confirming run. Infinite without such a budget.
[[nodiscard]] double share_of_trial_s(const StudySpec& study, TrialPurpose purpose,
                                      double startup_s);

/// The same of the next confirming run where `spending` leaves less: what is left of the time,
/// divided among the runs that a claim takes, or the `in_round` that this one's round still has,
/// itself included.
[[nodiscard]] double share_of_confirming_run_s(const StudySpec& study, const Spending& spending,
                                               double startup_s, std::size_t in_round);

/// Whether time and money allow the usual number of rounds of so many finalists, the baseline, and
/// the study's companion.
[[nodiscard]] bool can_pay_finalists(const StudySpec& study, const Spending& spending,
                                     std::size_t finalists);

/// Trials and pairs that a budget of time allows for a program with this start-up.
struct PlannedCourse {
  double time_s = 0.0;  ///< the budget
  int trials = 0;       ///< of the search, the baseline included, at their share of the time
  int pairs = 0;        ///< confirming, as short as they may be
  /// Seconds that the baseline, one more trial and the pairs of a claim take; above `time_s` if
  /// there is no time to decide anything.
  double needed_s = 0.0;
};

/// `elapsed_s`: tuning time that is over. Nothing without a budget of time.
[[nodiscard]] std::optional<PlannedCourse> planned_course(const StudySpec& study, double startup_s,
                                                          double elapsed_s);

/// Whether a further round of so many confirming runs fits into time and money.
[[nodiscard]] bool can_pay_confirming_round(const StudySpec& study, const Spending& spending,
                                            std::size_t runs);

}  // namespace steptune
