// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/payback.hpp"

namespace steptune {
namespace {

/// One unpromising suggestion may be an accident of the model's fit.
constexpr int k_unpaid_suggestions = 3;

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
                        const Standing& standing) {
  const TrialRecord* incumbent = standing.incumbent();
  const auto price = standing.mean_price();
  if (!study.budget.stop_at_payback || !payback_applies(study) || !expected_improvement ||
      incumbent == nullptr || !price) {
    unpaid_in_a_row_ = 0;
    return false;
  }
  const double saving = *expected_improvement * incumbent->objectives.front();
  const double trial = study.objectives.front().is_cost() ? price->usd : price->seconds;
  unpaid_in_a_row_ = saving < trial ? unpaid_in_a_row_ + 1 : 0;
  return unpaid_in_a_row_ >= k_unpaid_suggestions;
}

}  // namespace steptune
