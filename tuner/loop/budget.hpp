// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tuner/loop/search_end.hpp"
#include "tuner/loop/spending.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// The search's share of a time budget, and the largest number of trials that divide it.
inline constexpr double k_search_share = 0.6;
inline constexpr double k_most_contenders = 20.0;

/// Returns the end of the search if a limit forbids another trial; nullopt if a trial may start. A
/// trial may start only if the budget covers the least that a trial takes.
///
/// Keeps time and money for the confirmation: at most two fifths of the budget. If the pairs of a
/// claim need more, keeps up to half of the budget. If the search continues after a confirmation
/// (`confirmed`), keeps only enough for the pairs of a claim. If there is nothing to confirm yet
/// (`!has_contender`), keeps only the shortest time and the price of these pairs.
///
/// The first pair may overrun a time budget, by its shortest time at most. The last trial and the
/// first pair may overrun a money budget. This cannot happen if `with_money_as_time` turns the
/// budget into a time budget, or if `can_risk_a_trial` bounds the bill.
[[nodiscard]] std::optional<SearchEnd> search_budget_spent(const StudySpec& study,
                                                           const Spending& spending,
                                                           bool confirmed = false);

/// Turns a money budget into a time budget if the cost depends on time alone. This is so if trials
/// run one at a time (`capacity` is 1) on this machine, whose price never changes. The rules for a
/// time budget then apply: shares of trials, ends of trials, time kept for the confirmation.
/// Returns any other study unchanged.
[[nodiscard]] StudySpec with_money_as_time(StudySpec study, int capacity);

/// Returns the end of a search that has used up its time. Its reason is `10 min of tuning time`, or
/// `$5.00` if `with_money_as_time` made the limit from money. `budget.time_s` must be set.
[[nodiscard]] SearchEnd spent_time(const BudgetSpec& budget);
/// Returns why a trial was ended: `the tuning time (10 min) was over`, or `the budget of $5.00 was
/// spent`.
[[nodiscard]] std::string time_over_text(const BudgetSpec& budget);

/// True if no time is left for another search trial, by the rules of `search_budget_spent`. False
/// without a time budget.
[[nodiscard]] bool search_time_spent(const StudySpec& study, const Spending& spending,
                                     bool confirmed = false);

/// True if the money spent plus the largest possible bill of the running trials (`bound_usd`) is
/// within the budget. Then another trial may start, whatever it costs. The study then overruns the
/// budget by less than the largest bill of one trial. Always true without a money budget.
[[nodiscard]] bool can_risk_a_trial(const StudySpec& study, double spent_usd, double bound_usd);

/// Returns the tuning time in seconds at which the loop ends a trial and uses the measurement so
/// far. For the baseline and for confirming runs, this is the end of the time budget. Other trials
/// end earlier, to leave the shortest time of one confirming pair, at most half of the budget.
/// Infinite without a time budget.
[[nodiscard]] double latest_end_s(const StudySpec& study, const Spending& spending,
                                  TrialPurpose purpose);

/// Returns the seconds that a search trial may take to its first step if time is limited. These are
/// the baseline's start-up plus a fifth of the search's time. If fewer than four trials share that
/// time, the part is larger. It is two fifths if the trial compiles the model in another way than
/// the baseline. Only the first start compiles; later starts find the result in the compiler's
/// cache. Without this limit, a compilation of minutes would leave no time for other trials.
/// Infinite for other trials, and before the baseline is measured.
[[nodiscard]] double longest_start_s(const StudySpec& study, const TrialRecord& trial,
                                     const TrialRecord* baseline);

/// True if the loop ended a trial because of `longest_start_s`, and the study now has time for a
/// longer start.
[[nodiscard]] bool may_start_longer(const StudySpec& study, const TrialRecord& trial,
                                    const TrialRecord* baseline);

/// Returns a trial's share of a time budget in seconds, without its start-up.
///
/// The search gets 60 % of the budget, or 20 % if each configuration is confirmed. This time is
/// divided among as many trials as the budget and the search space allow, at most 20. It is divided
/// among fewer trials if their start-up would take longer than their measurement. Each trial gets
/// at least twice the least window. The baseline and confirming runs get twice the share of a
/// search trial. Infinite without a time budget.
[[nodiscard]] double share_of_trial_s(const StudySpec& study, TrialPurpose purpose,
                                      double startup_s);

/// Returns the share of the next confirming run in seconds. If less time is left, divides it among
/// the runs that a claim still needs. If the round still has more runs (`in_round`, this run
/// included), divides the time among those.
[[nodiscard]] double share_of_confirming_run_s(const StudySpec& study, const Spending& spending,
                                               double startup_s, std::size_t in_round);

/// True if time and money suffice for the usual number of confirming rounds. Each round runs the
/// `finalists`, the baseline, and the study's configuration in use, if there is one.
[[nodiscard]] bool can_pay_finalists(const StudySpec& study, const Spending& spending,
                                     std::size_t finalists);

/// Trials and confirming pairs that a time budget allows for a program.
struct PlannedCourse {
  double time_s = 0.0;  ///< the budget
  int trials = 0;       ///< baseline and search trials, each for its share of the time
  int pairs = 0;        ///< confirming pairs, each as short as possible
  /// Least seconds that the baseline, one more trial and the pairs of a claim take. If this is
  /// above `time_s`, the budget is too short to decide anything.
  double needed_s = 0.0;
};

/// Returns the course of a study for a program with this start-up. `elapsed_s`: tuning time already
/// used. Returns nullopt without a time budget.
[[nodiscard]] std::optional<PlannedCourse> planned_course(const StudySpec& study, double startup_s,
                                                          double elapsed_s);

/// True if time and money suffice for another round of `runs` confirming runs.
[[nodiscard]] bool can_pay_confirming_round(const StudySpec& study, const Spending& spending,
                                            std::size_t runs);

}  // namespace steptune
