// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/payback.hpp"

namespace steptune {
namespace {

/// One unpromising suggestion may be an accident of the model's fit.
constexpr int k_unpaid_suggestions = 3;

/// Mean price of the trials that ran, in the unit of the first objective; 0 if none did.
double price_of_a_trial(const StudySpec& study, const std::vector<TrialRecord>& trials) {
  const bool in_money = study.objectives.front().is_cost();
  double sum = 0.0;
  int count = 0;
  for (const TrialRecord& trial : trials) {
    if (!is_final(trial.status) || is_confirmation(trial.purpose)) continue;
    sum += in_money ? trial.spent_usd : trial.spent_s;
    ++count;
  }
  return count > 0 ? sum / count : 0.0;
}

}  // namespace

bool payback_applies(const StudySpec& study) {
  return study.planned_run.samples.has_value() &&
         (study.objectives.front().is_time() || study.objectives.front().is_cost());
}

std::optional<double> payback_share(const StudySpec& study, double baseline_objective,
                                    double incumbent_objective, double tuning_s,
                                    double tuning_usd) {
  if (!payback_applies(study)) return std::nullopt;
  const double saving = baseline_objective - incumbent_objective;
  if (!(saving > 0.0)) return std::nullopt;
  return (study.objectives.front().is_cost() ? tuning_usd : tuning_s) / saving;
}

bool PaybackRule::stops(const StudySpec& study, std::optional<double> expected_improvement,
                        double incumbent, const std::vector<TrialRecord>& trials) {
  if (!study.budget.stop_at_payback || !payback_applies(study) || !expected_improvement) {
    unpaid_in_a_row_ = 0;
    return false;
  }
  const double saving = *expected_improvement * incumbent;
  unpaid_in_a_row_ = saving < price_of_a_trial(study, trials) ? unpaid_in_a_row_ + 1 : 0;
  return unpaid_in_a_row_ >= k_unpaid_suggestions;
}

}  // namespace steptune
