// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/recommend.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/loop/confirm.hpp"
#include "tuner/loop/objectives.hpp"
#include "tuner/loop/payback.hpp"
#include "tuner/loop/plan_notes.hpp"

namespace steptune {
namespace {

/// Geometric means over the runs of one side; arithmetic ones where a value is not positive.
std::vector<double> means_over(const std::vector<RunPair>& pairs, const TrialRecord* RunPair::*side,
                               std::size_t objectives) {
  std::vector<double> means;
  const auto count = static_cast<double>(pairs.size());
  for (std::size_t objective = 0; objective < objectives; ++objective) {
    double sum = 0.0;
    double log_sum = 0.0;
    bool positive = true;
    for (const auto& pair : pairs) {
      const double value = (pair.*side)->objectives[objective];
      sum += value;
      positive = positive && value > 0.0;
      log_sum += positive ? std::log(value) : 0.0;
    }
    means.push_back(positive ? std::exp(log_sum / count) : sum / count);
  }
  return means;
}

/// The best trial of the search that measured a configuration.
const TrialRecord* trial_of(const Standing& standing, const Configuration& configuration) {
  const auto better = [&](const TrialRecord& a, const TrialRecord* b) {
    const Objective& objective = standing.rules().objectives.front();
    return b == nullptr || to_minimized(objective, a.objectives.front()) <
                               to_minimized(objective, b->objectives.front());
  };
  const TrialRecord* best = nullptr;
  for (const TrialRecord& trial : standing.trials()) {
    const bool its = trial.configuration == configuration && may_win(standing.rules(), trial);
    if (its && better(trial, best)) best = &trial;
  }
  return best;
}

void recommend_trial(const TrialRecord& trial, Recommendation& recommendation) {
  recommendation.incumbent_trial = trial.number;
  recommendation.configuration = trial.configuration;
  recommendation.incumbent_objectives = trial.objectives;
}

void recommend_finalist(const StudySpec& study, const Finalist& finalist,
                        Recommendation& recommendation) {
  recommendation.claim = Claim::faster;
  recommendation.speed_up = finalist.speed_up;
  recommendation.incumbent_objectives =
      means_over(finalist.pairs, &RunPair::incumbent, study.objectives.size());
  recommendation.baseline_objectives =
      means_over(finalist.pairs, &RunPair::baseline, study.objectives.size());
}

/// Whether fresh runs have had their say, or there is nothing for them to say.
bool is_judged(const Confirmation& confirmation, const TrialRecord& incumbent,
               const TrialRecord& baseline) {
  return incumbent.configuration == baseline.configuration ||
         std::ranges::any_of(confirmation.finalists(),
                             [](const Finalist& finalist) { return !finalist.pairs.empty(); });
}

}  // namespace

std::optional<Recommendation> recommend(const StudySpec& study, const Standing& standing,
                                        const StudyTotals& totals) {
  const TrialRecord* incumbent = standing.incumbent();
  if (incumbent == nullptr) return std::nullopt;
  const TrialRecord* baseline = standing.baseline();

  Recommendation recommendation;
  const Confirmation confirmation(study, standing);
  const Finalist* winner = confirmation.winner();
  const TrialRecord* winning = winner ? trial_of(standing, winner->configuration) : nullptr;
  if (baseline != nullptr) recommendation.baseline_objectives = baseline->objectives;
  for (const Finalist& finalist : confirmation.finalists()) {
    const TrialRecord* trial = trial_of(standing, finalist.configuration);
    recommendation.finalists.push_back(
        {trial == nullptr ? 0 : trial->number, finalist.verdict, finalist.speed_up});
  }
  const TrialRecord* recommended = incumbent;
  if (winning != nullptr) {
    recommended = winning;
  } else if (baseline != nullptr && is_judged(confirmation, *incumbent, *baseline) &&
             may_win(standing.rules(), *baseline)) {
    recommended = baseline;
    recommendation.claim = Claim::nothing_faster;
  }
  recommend_trial(*recommended, recommendation);
  if (winning != nullptr) {
    recommend_finalist(study, *winner, recommendation);
  } else if (recommended != baseline && baseline != nullptr) {
    recommendation.speed_up = speed_up_of_trials(study, *recommended, *baseline);
  }
  // Of the baseline it would list all that nothing was shown of.
  if (recommendation.claim != Claim::nothing_faster) {
    recommendation.tied = standing.tied_with(*recommended);
  }
  recommendation.pareto = standing.front();
  recommendation.tuning_s = totals.elapsed_s;
  recommendation.tuning_usd = totals.overhead_usd + standing.spent_usd();
  if (!recommendation.baseline_objectives.empty()) {
    recommendation.payback_share = payback_share(
        study, recommendation.baseline_objectives[0], recommendation.incumbent_objectives[0],
        recommendation.tuning_s, recommendation.tuning_usd);
  }
  recommendation.notes = plan_notes(study, standing, recommendation);
  return recommendation;
}

}  // namespace steptune
