// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/budget.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/enum_names.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "tuner/knobs/knob_role.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune {
namespace {

constexpr auto k_budget_limits = enum_names<BudgetLimit>({
    {BudgetLimit::trials, "trials"},
    {BudgetLimit::time, "time"},
    {BudgetLimit::cost, "cost"},
});

/// Largest share of a budget that is kept for the confirming pairs of one claim. For all pairs of
/// the confirmation, the budget keeps at most the share that the search leaves.
constexpr double k_most_for_claim = 0.5;
/// Largest share of a time budget for the first runs if each configuration is confirmed. A first
/// run only shows that its configuration runs. The confirming runs alone decide, and get the rest
/// of the time.
constexpr double k_search_share_of_judging = 0.2;
/// Smallest share of the search's time by which a trial's start-up may exceed the baseline's
/// start-up. Twice as large for a trial that compiles the model in another way than the baseline.
constexpr double k_for_start = 0.2;

/// Numbers of confirming pairs for which the budget keeps time and money.
struct KeptPairs {
  int wanted = 0;
  int for_claim = 0;
};

/// True if `limit` covers the amount `used`, the `next` trial and the confirmation's share. `pair`:
/// price of a confirming pair. All amounts are in seconds, or all are in USD.
bool fits(double used, double next, double pair, KeptPairs pairs, double limit) {
  const double share = std::max((1.0 - k_search_share) * limit,
                                std::min(pairs.for_claim * pair, k_most_for_claim * limit));
  return used + next + std::min(pair * pairs.wanted, share) <= limit;
}

/// Returns the seconds of the time budget that the search may use.
double search_time_s(const StudySpec& study) {
  return *study.budget.time_s *
         (study.measure.confirm_all ? k_search_share_of_judging : k_search_share);
}

/// Returns the largest number of trials that share the search's time; at least 2.
double most_contenders(const StudySpec& study) {
  double contenders = k_most_contenders;
  if (study.budget.trials) {
    contenders = std::min(contenders, static_cast<double>(*study.budget.trials));
  }
  if (const auto size = study.space.product_size()) {
    contenders = std::min(contenders, static_cast<double>(*size));
  }
  return std::max(contenders, 2.0);
}

/// True if a parameter that decides how the model is compiled differs from the baseline's.
bool compiles_anew(const StudySpec& study, const Configuration& configuration) {
  return std::ranges::any_of(study.space.parameters(), [&](const Parameter& parameter) {
    const Value* value = configuration.find(parameter.name);
    const Value* usual = study.baseline.find(parameter.name);
    return value != nullptr && (usual == nullptr || *value != *usual) &&
           role_of(study.parameter_roles, parameter.name) == KnobRole::compile;
  });
}

/// True if time and money suffice for `runs` further confirming runs. `pair_s`: seconds that two
/// runs take.
bool can_pay_runs(const StudySpec& study, const Spending& spending, double runs, double pair_s) {
  const BudgetSpec& budget = study.budget;
  const double pairs = 0.5 * runs;
  if (budget.time_s && spending.elapsed_s + pairs * pair_s > *budget.time_s) return false;
  return !budget.cost_usd || spending.usd + pairs * spending.confirm_pair_usd <= *budget.cost_usd;
}

/// Returns the numbers of confirming pairs for which a search keeps time and money. After a
/// confirmation (`confirmed`), the search keeps only enough for the pairs that a claim needs.
KeptPairs pairs_to_keep(const StudySpec& study, const Spending& spending, bool confirmed) {
  const int usual = study.measure.confirm_pairs;
  const int least = least_pairs(study);
  const int for_claim =
      std::min(usual, spending.ends_unsteady ? std::max(k_least_unsteady_pairs, least) : least);
  return {confirmed ? for_claim : usual, for_claim};
}

bool has_configuration_in_use(const StudySpec& study) {
  const auto& in_use = study.measure.in_use;
  return in_use && in_use->configuration != study.baseline;
}

/// Returns the number of runs that a claim needs. A round has a run of a finalist and a run of the
/// baseline. If the study has a configuration in use, each round also runs this configuration. If
/// each configuration is confirmed, all configurations run until the first look.
int least_runs(const StudySpec& study, const Spending& spending) {
  if (study.measure.confirm_all && study.budget.trials) {
    return static_cast<int>(*study.budget.trials) * look_plan(study).first;
  }
  const int in_round = has_configuration_in_use(study) ? 3 : 2;
  return in_round * pairs_to_keep(study, spending, /*confirmed=*/true).for_claim;
}

}  // namespace

bool search_time_spent(const StudySpec& study, const Spending& spending, bool confirmed) {
  const auto& limit_s = study.budget.time_s;
  if (!limit_s) return false;
  // While there is nothing to confirm, keep time for the pairs of one claim only. More time would
  // be wasted.
  const bool proof_only = !spending.has_contender;
  const double pair_s = proof_only ? spending.least_confirm_pair_s : spending.confirm_pair_s;
  return !fits(spending.elapsed_s, spending.least_trial_s, pair_s,
               pairs_to_keep(study, spending, confirmed || proof_only), *limit_s);
}

StudySpec with_money_as_time(StudySpec study, int capacity) {
  const RunnerTraits& traits = study.runner->traits();
  BudgetSpec& budget = study.budget;
  if (!budget.cost_usd || capacity != 1 || !traits.uses_this_machine || traits.machines_vary)
    return study;
  const double usd_per_s = usage_usd(on_demand_usd_per_hour(study, study.baseline), 1.0);
  if (!(usd_per_s > 0.0)) return study;
  const double paid_s = *budget.cost_usd / usd_per_s;
  if (!budget.time_s || paid_s < *budget.time_s) {
    budget.time_s = paid_s;
    budget.time_of_usd = budget.cost_usd;
  }
  budget.cost_usd.reset();
  return study;
}

std::string to_text(BudgetLimit limit) {
  return std::string(k_budget_limits.name_of(limit));
}

std::optional<BudgetLimit> budget_limit_from_text(std::string_view text) {
  return k_budget_limits.value_of(text);
}

SearchEnd spent_time(const BudgetSpec& budget) {
  std::string limit = budget.time_of_usd
                          ? format_usd(*budget.time_of_usd)
                          : fmt::format("{} of tuning time", format_duration(*budget.time_s));
  return {LoopEnd::budget, std::move(limit), BudgetLimit::time};
}

std::string time_over_text(const BudgetSpec& budget) {
  return budget.time_of_usd
             ? fmt::format("the budget of {} was spent", format_usd(*budget.time_of_usd))
             : fmt::format("the tuning time ({}) was over", format_duration(*budget.time_s));
}

std::optional<SearchEnd> search_budget_spent(const StudySpec& study, const Spending& spending,
                                             bool confirmed) {
  const BudgetSpec& budget = study.budget;
  if (budget.trials && spending.search_trials >= *budget.trials) {
    return SearchEnd{LoopEnd::budget,
                     fmt::format("{} trial{}", *budget.trials, *budget.trials == 1 ? "" : "s"),
                     BudgetLimit::trials};
  }
  if (search_time_spent(study, spending, confirmed)) return spent_time(budget);
  const KeptPairs pairs = pairs_to_keep(study, spending, confirmed || !spending.has_contender);
  if (budget.cost_usd && !fits(spending.usd, spending.least_trial_usd, spending.confirm_pair_usd,
                               pairs, *budget.cost_usd)) {
    return SearchEnd{LoopEnd::budget, format_usd(*budget.cost_usd), BudgetLimit::cost};
  }
  return std::nullopt;
}

bool can_pay_confirming_round(const StudySpec& study, const Spending& spending, std::size_t runs) {
  const bool is_for_claim = spending.confirming_runs < least_runs(study, spending);
  const double pair_s = is_for_claim ? spending.least_confirm_pair_s : spending.confirm_pair_s;
  return can_pay_runs(study, spending, static_cast<double>(runs), pair_s);
}

bool can_pay_finalists(const StudySpec& study, const Spending& spending, std::size_t finalists) {
  const std::size_t in_round = finalists + 1 + (has_configuration_in_use(study) ? 1 : 0);
  const double runs =
      static_cast<double>(in_round) * static_cast<double>(study.measure.confirm_pairs);
  return can_pay_runs(study, spending, runs, spending.confirm_pair_s);
}

double latest_end_s(const StudySpec& study, const Spending& spending, TrialPurpose purpose) {
  if (!study.budget.time_s) return k_infinity;
  const bool leaves_proof = follows_first_trial(purpose) && study.measure.confirm_pairs > 0;
  const double kept_s = std::min({spending.least_confirm_pair_s, spending.confirm_pair_s,
                                  k_most_for_claim * *study.budget.time_s});
  return *study.budget.time_s - (leaves_proof ? kept_s : 0.0);
}

double longest_start_s(const StudySpec& study, const TrialRecord& trial,
                       const TrialRecord* baseline) {
  if (!study.budget.time_s || !is_searched(trial.purpose) || baseline == nullptr ||
      !baseline->measurement) {
    return k_infinity;
  }
  // If few trials share the time, a start may take as long as a trial's share.
  const double least = (compiles_anew(study, trial.configuration) ? 2.0 : 1.0) * k_for_start;
  const double share = std::max(least, 1.0 / (most_contenders(study) + 1.0));
  return baseline->measurement->startup_s + share * search_time_s(study);
}

bool may_start_longer(const StudySpec& study, const TrialRecord& trial,
                      const TrialRecord* baseline) {
  return trial.awaited_start_s && *trial.awaited_start_s < longest_start_s(study, trial, baseline);
}

double share_of_trial_s(const StudySpec& study, TrialPurpose purpose, double startup_s) {
  if (!study.budget.time_s) return k_infinity;
  double contenders = most_contenders(study);
  const double search_s = search_time_s(study);
  // Divide the time among so few trials that each is measured for at least as long as it starts up.
  if (startup_s > 0.0) contenders = std::min(contenders, search_s / (2.0 * startup_s) - 1.0);
  // Add one, because the baseline gets the share of two trials.
  const double even_s = search_s / (std::max(contenders, 2.0) + 1.0);
  const double least_s = std::max(2.0 * study.measure.min_window_s, 0.25 * even_s);
  const double share_s = std::max(even_s - startup_s, least_s);
  return follows_first_trial(purpose) ? share_s : 2.0 * share_s;
}

std::optional<PlannedCourse> planned_course(const StudySpec& study, double startup_s,
                                            double elapsed_s) {
  if (!study.budget.time_s) return std::nullopt;
  PlannedCourse course;
  course.time_s = *study.budget.time_s;
  const bool starts = study.trials != TrialsIn::attached;
  const double trial_start_s = starts ? startup_s : 0.0;
  const double least_window_s = 2.0 * study.measure.min_window_s;
  const double pair_s = 2.0 * (startup_s + least_confirming_run_s(study));
  const int for_claim = study.measure.confirm_pairs > 0 ? least_pairs(study) : 0;
  course.needed_s =
      elapsed_s + startup_s + trial_start_s + 3.0 * least_window_s + for_claim * pair_s;
  const double kept_s = std::min(for_claim * pair_s, k_most_for_claim * course.time_s);
  const double baseline_s =
      startup_s + share_of_trial_s(study, TrialPurpose::baseline, trial_start_s);
  const double trial_s =
      trial_start_s + share_of_trial_s(study, TrialPurpose::search, trial_start_s);
  const double search_s = std::min(course.time_s - kept_s, search_time_s(study)) - elapsed_s;
  if (course.needed_s > course.time_s) return course;
  course.trials = 1 + std::max(1, static_cast<int>((search_s - baseline_s) / trial_s));
  if (study.budget.trials) {
    course.trials = std::min(course.trials, static_cast<int>(*study.budget.trials));
  }
  const double used_s = elapsed_s + baseline_s + (course.trials - 1) * trial_s;
  course.pairs = std::max(for_claim, static_cast<int>((course.time_s - used_s) / pair_s));
  course.pairs = std::min(course.pairs, study.measure.confirm_pairs);
  return course;
}

double share_of_confirming_run_s(const StudySpec& study, const Spending& spending, double startup_s,
                                 std::size_t in_round) {
  const double share_s = share_of_trial_s(study, TrialPurpose::confirm_incumbent, startup_s);
  if (!study.budget.time_s) return share_s;
  const int runs = std::max(least_runs(study, spending) - spending.confirming_runs,
                            std::max(1, static_cast<int>(in_round)));
  const double left_s = (*study.budget.time_s - spending.elapsed_s) / runs - startup_s;
  return std::min(share_s, std::max(left_s, least_confirming_run_s(study)));
}

bool can_risk_a_trial(const StudySpec& study, double spent_usd, double bound_usd) {
  return !study.budget.cost_usd || spent_usd + bound_usd <= *study.budget.cost_usd;
}

}  // namespace steptune
