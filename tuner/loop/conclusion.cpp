// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/conclusion.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "tuner/loop/study_decisions.hpp"
#include "tuner/verdict/plan_notes.hpp"
#include "tuner/verdict/planned_time.hpp"
#include "tuner/verdict/recommend.hpp"
#include "tuner/verdict/recommendation_record.hpp"

namespace steptune {
namespace {

/// If more than this share of a time budget is left, the result says so.
constexpr double k_much_left = 0.2;

std::string withdrawn_text(std::size_t withdrawn) {
  if (withdrawn == 0) return "";
  return fmt::format("; {} {} not run: no machines were available in that time", withdrawn,
                     withdrawn == 1 ? "trial was" : "trials were");
}

std::string cut_off_text(const std::vector<std::int64_t>& numbers) {
  if (numbers.empty()) return "";
  return fmt::format("; {} cut off, and not run again within the budget",
                     numbers.size() == 1 ? fmt::format("trial {} was", numbers.front())
                                         : fmt::format("trials {} were", fmt::join(numbers, ", ")));
}

/// True if there is time for another trial, but no further configuration may be confirmed.
bool leaves_time(const StudyRun& run) {
  const BudgetSpec& budget = run.parts.study.budget;
  const Spending so_far = run.spending();
  const bool has_trials = !budget.trials || so_far.search_trials < *budget.trials;
  return run.may_continue_search() && has_trials &&
         so_far.elapsed_s + so_far.least_trial_s < *budget.time_s &&
         run.standing().baseline() != nullptr && !run.confirmation().may_confirm_more();
}

/// Returns why the study keeps its baseline, as the last clause of `LoopResult::reason`.
std::string why_nothing_faster(const StudyRun& run) {
  const BudgetSpec& budget = run.parts.study.budget;
  const auto& limit_s = budget.time_s;
  const bool by_time = limit_s && run.end->spent == BudgetLimit::time;
  const bool compared = std::ranges::any_of(
      run.standing().trials(), [](const TrialRecord& trial) { return is_searched(trial.purpose); });
  const double left_s = by_time ? *limit_s - run.stopwatch.elapsed_s() : 0.0;
  // Time may also be left because the runner holds machines or no further claim is possible. Then
  // the rest is not too short.
  const bool too_little =
      by_time && search_time_spent(run.parts.study, run.spending(), run.confirmed);
  const std::string rest =
      too_little && left_s > k_much_left * *limit_s
          ? fmt::format(", and the {} left are too short for another trial and its confirmation",
                        format_duration(left_s))
          : "";
  if (by_time && !compared) {
    // The advice is about time, so it does not suit a money budget.
    const std::string then = budget.time_of_usd ? "" : run.parts.after_too_little;
    return fmt::format("; that was enough only for the baseline{}{}", rest,
                       then.empty() ? "" : ": " + then);
  }
  return fmt::format("; nothing was shown to be {} than the baseline{}",
                     run.parts.study.objectives.front().comparative(), rest);
}

std::string why_none_feasible(const StudySpec& study, const Standing& standing) {
  if (standing.baseline() == nullptr) return "the baseline was not measured";
  const TrialRecord* nearest = nullptr;
  PlannedFigures least;
  for (const TrialRecord& trial : standing.trials()) {
    if (trial.status != TrialStatus::infeasible || !is_compared(trial.purpose)) continue;
    const auto figures = planned_figures(study, trial.configuration, trial.objectives);
    if (!figures.seconds) continue;
    const bool is_nearer =
        nearest == nullptr || (study.planned_run.deadline_s ? *figures.seconds < *least.seconds
                                                            : figures.usd < least.usd);
    if (!is_nearer) continue;
    nearest = &trial;
    least = figures;
  }
  std::string why = "no trial respects all limits";
  if (nearest == nullptr) return why;
  const auto missed = missed_limit(study.planned_run, {*least.seconds, 0.0},
                                   usd_per_hour(study, nearest->configuration));
  return missed ? fmt::format("{}; trial {} comes nearest: {}", why, nearest->number, *missed)
                : why;
}

/// Returns which trials were ended because their first step was late; empty if none.
std::string who_did_not_start(const StudySpec& study, const Standing& standing) {
  std::vector<std::int64_t> numbers;
  for (const TrialRecord& trial : standing.trials()) {
    if (!trial.awaited_start_s) continue;
    const bool was_measured = std::ranges::any_of(standing.trials(), [&](const TrialRecord& other) {
      return is_ranked(other.status) && other.configuration == trial.configuration;
    });
    if (!was_measured) numbers.push_back(trial.number);
  }
  if (numbers.empty()) return "";
  return fmt::format("; {} {} {} ended before {} first step; {} would wait for it",
                     numbers.size() == 1 ? "trial" : "trials", fmt::join(numbers, ", "),
                     numbers.size() == 1 ? "was" : "were", numbers.size() == 1 ? "its" : "their",
                     study.budget.time_of_usd ? "a larger budget" : "a longer tuning time");
}

/// Sets end and reason of a finished study. Both depend on its recommendation.
void finish_result(const StudyRun& run, LoopResult& result) {
  const StudySpec& study = run.parts.study;
  const auto claims = [&](Claim claim) {
    return result.recommendation && result.recommendation->claim == claim;
  };
  const bool is_found_at_end = result.end != LoopEnd::nothing_to_gain;
  if (claims(Claim::nothing_to_gain) && is_found_at_end) {
    result.end = LoopEnd::nothing_to_gain;
    result.reason +=
        fmt::format("; the baseline is within {:g} % of the best that these settings allow",
                    100.0 * study.search.worth);
  }
  if (result.end == LoopEnd::budget && leaves_time(run)) {
    result.reason += fmt::format(
        "; fresh runs did not confirm {} configurations, and no more are tried", k_most_finalists);
  }
  if (claims(Claim::nothing_faster)) {
    result.end = LoopEnd::nothing_faster;
    result.reason += why_nothing_faster(run);
  }
  if (!result.recommendation) {
    result.end = LoopEnd::no_feasible_trial;
    result.reason += "; " + why_none_feasible(study, run.standing());
  }
  result.reason += who_did_not_start(study, run.standing());
}

/// Records the result with the study.
Result<void> record_result(StudyRun& run, const LoopResult& result) {
  run.recorder.decided(recommended_decision(result));
  StudyRecord& record = run.record;
  record.status = is_to_be_continued(result.end) ? StudyStatus::interrupted : StudyStatus::finished;
  record.stop_reason = result.reason;
  record.recommendation = result.recommendation ? to_json(*result.recommendation) : Json::object();
  record.recommendation["end"] = to_text(result.end);
  record.recommendation["search_end"] = to_text(result.search_end);
  return run.recorder.study();
}

}  // namespace

Result<LoopResult> conclude_study(StudyRun& run, const PendingTrials& pending,
                                  std::optional<double> expected_improvement,
                                  std::string left_running) {
  const LoopEnd end = run.end->end;
  LoopResult result{end, run.end->reason, {}, std::move(left_running), end};
  result.reason += withdrawn_text(pending.withdrawn());
  if (!is_to_be_continued(end)) result.reason += cut_off_text(pending.cut_off());
  run.recorder.count_unused();
  result.recommendation =
      recommend(run.parts.study, run.standing(), run.stopwatch.elapsed_s(), run.record.overhead_usd,
                expected_improvement, has_last_look(end));
  if (!is_to_be_continued(end)) finish_result(run, result);
  if (auto recorded = record_result(run, result); !recorded)
    return tl::unexpected(recorded.error());
  return result;
}

}  // namespace steptune
