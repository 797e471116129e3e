// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/recommend.hpp"

#include <cmath>

#include "tuner/loop/confirm.hpp"
#include "tuner/loop/payback.hpp"
#include "tuner/loop/plan_notes.hpp"

namespace steptune {
namespace {

/// Geometric means over the runs of one side; arithmetic ones where a value is not positive.
std::vector<double> means_over(const std::vector<ConfirmPair>& pairs,
                               const TrialRecord* ConfirmPair::*side, std::size_t objectives) {
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

void fill_evidence(const StudySpec& study, const std::vector<TrialRecord>& trials,
                   const TrialRecord& incumbent, const TrialRecord* baseline,
                   Recommendation& recommendation) {
  recommendation.incumbent_trial = incumbent.number;
  recommendation.configuration = incumbent.configuration;
  recommendation.incumbent_objectives = incumbent.objectives;
  if (baseline == nullptr) return;
  recommendation.baseline_objectives = baseline->objectives;
  const auto pairs = confirmed_pairs(study, trials, incumbent.configuration);
  if (pairs.empty()) {
    recommendation.speed_up = speed_up_of_trials(study, incumbent, *baseline);
    return;
  }
  recommendation.speed_up = speed_up_of_pairs(study, pairs);
  recommendation.incumbent_objectives =
      means_over(pairs, &ConfirmPair::incumbent, study.objectives.size());
  recommendation.baseline_objectives =
      means_over(pairs, &ConfirmPair::baseline, study.objectives.size());
}

/// The confirmation took back what the search had promised.
void fall_back_on_baseline(const TrialRecord& baseline, Recommendation& recommendation) {
  const int pairs = recommendation.speed_up.pairs;
  recommendation.tied = {recommendation.incumbent_trial};
  recommendation.incumbent_trial = baseline.number;
  recommendation.configuration = baseline.configuration;
  recommendation.incumbent_objectives = recommendation.baseline_objectives;
  recommendation.speed_up = SpeedUp{1.0, 1.0, 1.0, pairs};
}

}  // namespace

std::optional<Recommendation> recommend(const StudySpec& study, const Standing& standing,
                                        const StudyTotals& totals) {
  const TrialRecord* incumbent = standing.incumbent();
  if (incumbent == nullptr) return std::nullopt;
  const TrialRecord* baseline = standing.baseline();

  Recommendation recommendation;
  fill_evidence(study, standing.trials(), *incumbent, baseline, recommendation);
  recommendation.tied = standing.tied_with(*incumbent);
  recommendation.pareto = standing.front();
  const bool refuted = recommendation.speed_up.pairs > 0 && recommendation.speed_up.ratio <= 1.0;
  if (refuted && baseline != nullptr && may_win(standing.rules(), *baseline)) {
    fall_back_on_baseline(*baseline, recommendation);
  }
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
