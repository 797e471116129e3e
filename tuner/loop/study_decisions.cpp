// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/study_decisions.hpp"

#include <cmath>
#include <utility>

namespace steptune {
namespace {

StudyDecision decision_of(std::string kind, std::int64_t trial, std::string text) {
  StudyDecision decision;
  decision.kind = std::move(kind);
  decision.trial = trial;
  decision.text = std::move(text);
  return decision;
}

void add_spending(const Spending& spending, Json& numbers) {
  numbers["trials"] = spending.search_trials;
  numbers["elapsed_s"] = spending.elapsed_s;
  numbers["usd"] = spending.usd;
  numbers["least_trial_s"] = spending.least_trial_s;
  numbers["least_trial_usd"] = spending.least_trial_usd;
  numbers["confirm_pair_s"] = spending.confirm_pair_s;
  numbers["confirm_pair_usd"] = spending.confirm_pair_usd;
}

}  // namespace

bool is_of_change(const StudyDecision& decision) {
  return decision.kind == k_changed_decision;
}

StudyDecision guard_decision(const Guard& guard, const TrialRecord& baseline) {
  const GuardLimit limit = limit_of(guard, baseline);
  StudyDecision decision = decision_of("guard", baseline.number, "");
  decision.numbers["metric"] = limit.metric;
  if (limit.max) decision.numbers["max"] = *limit.max;
  if (limit.min) decision.numbers["min"] = *limit.min;
  if (limit.baseline) decision.numbers["baseline"] = *limit.baseline;
  return decision;
}

StudyDecision drift_decision(const TrialRecord& sentinel, const MachineDrift& drift) {
  const MachineLevel level = drift.at(sentinel.number);
  StudyDecision decision = decision_of("drift", sentinel.number, "");
  decision.numbers["runs"] = drift.runs();
  decision.numbers["significant"] = drift.is_significant();
  decision.numbers["log_ratio"] = level.log_ratio;
  decision.numbers["error"] = level.standard_error;
  return decision;
}

StudyDecision payback_decision(std::int64_t trial, const PaybackRule& rule) {
  StudyDecision decision = decision_of("payback", trial, "");
  decision.numbers["saving"] = rule.saving();
  decision.numbers["price"] = rule.price();
  decision.numbers["in_a_row"] = rule.unpaid_in_a_row();
  return decision;
}

StudyDecision end_decision(const SearchEnd& end, const Spending& spending) {
  StudyDecision decision = decision_of(k_end_decision, 0, end.reason);
  decision.numbers["of"] = to_text(end.end);
  if (end.spent) decision.numbers["limit"] = to_text(*end.spent);
  add_spending(spending, decision.numbers);
  return decision;
}

StudyDecision search_on_decision(const Spending& spending) {
  StudyDecision decision =
      decision_of(k_search_on_decision, 0, "fresh runs left time for further trials");
  add_spending(spending, decision.numbers);
  return decision;
}

StudyDecision finalist_decision(const TrialRecord& run, const Standing& standing) {
  StudyDecision decision = decision_of("finalist", 0, run.configuration.text());
  if (const TrialRecord* found = standing.best_of(run.configuration)) {
    decision.trial = found->number;
    decision.numbers["value"] = found->objectives.front();
    decision.numbers["error"] = standing.error(*found, 0);
    decision.numbers["tied"] = standing.tied_with(*found).size();
  }
  if (const TrialRecord* baseline = standing.baseline()) {
    decision.numbers["baseline"] = baseline->objectives.front();
  }
  return decision;
}

StudyDecision judged_decision(const TrialRecord& run, const Finalist& finalist) {
  const SpeedUp& speed_up = finalist.speed_up;
  StudyDecision decision = decision_of("judge", run.number, finalist.configuration.text());
  decision.numbers["verdict"] = to_text(finalist.verdict);
  decision.numbers["settled"] = finalist.settled;
  decision.numbers["pairs"] = speed_up.pairs;
  decision.numbers["ratio"] = speed_up.ratio;
  decision.numbers["low"] = speed_up.low;
  decision.numbers["high"] = speed_up.high;
  decision.numbers["low_if_buffered"] = speed_up.low_if_buffered;
  return decision;
}

StudyDecision excluded_decision(const TrialRecord& run) {
  StudyDecision decision = decision_of("exclude", run.number, run.failure);
  decision.numbers["status"] = to_text(run.status);
  return decision;
}

StudyDecision recommended_decision(const LoopResult& result) {
  StudyDecision decision = decision_of(k_recommend_decision, 0, result.reason);
  decision.numbers["end"] = to_text(result.end);
  if (!result.recommendation) return decision;
  const Recommendation& recommendation = *result.recommendation;
  decision.trial = recommendation.incumbent_trial;
  decision.numbers["claim"] = to_text(recommendation.claim);
  if (std::isfinite(recommendation.speed_up.ratio)) {
    decision.numbers["ratio"] = recommendation.speed_up.ratio;
    decision.numbers["low"] = recommendation.speed_up.low;
    decision.numbers["high"] = recommendation.speed_up.high;
  }
  if (recommendation.payback_share) {
    decision.numbers["payback_share"] = *recommendation.payback_share;
  }
  return decision;
}

}  // namespace steptune
