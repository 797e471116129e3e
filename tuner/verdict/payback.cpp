// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/payback.hpp"

#include <algorithm>

#include "trial_runner/cost/usage_cost.hpp"

namespace steptune {

bool payback_applies(const StudySpec& study) {
  return study.planned_run.samples.has_value() && study.objectives.front().is_timed();
}

std::optional<double> payback_share(const StudySpec& study, double baseline_objective,
                                    double incumbent_objective, double tuning_s,
                                    double tuning_usd) {
  if (!payback_applies(study)) return std::nullopt;
  const double saving = baseline_objective - incumbent_objective;
  if (!(saving > 0.0)) return std::nullopt;
  return (study.objectives.front().is_cost() ? tuning_usd : tuning_s) / saving;
}

double usd_per_hour_alone(const StudySpec& study, const Configuration& configuration) {
  const RunnerTraits& traits = study.runner->traits();
  return on_demand_usd_per_hour(study, configuration) *
         (traits.uses_this_machine ? traits.parallel : 1);
}

double tuning_cost_usd(const StudySpec& study, double trials_usd, double overhead_usd,
                       double elapsed_s) {
  if (!study.runner->traits().uses_this_machine) return trials_usd + overhead_usd;
  const double own_usd = usage_usd(usd_per_hour_alone(study, study.baseline), elapsed_s);
  return std::max(trials_usd, own_usd) + overhead_usd;
}

bool PaybackRule::stops(const StudySpec& study, std::optional<double> expected_improvement,
                        const Standing& standing) {
  const TrialRecord* incumbent = standing.incumbent();
  const auto price = standing.mean_price(study.measure);
  if (!study.budget.stop_at_payback || !payback_applies(study) || !expected_improvement ||
      incumbent == nullptr || !price) {
    *this = PaybackRule();
    return false;
  }
  saving_ = *expected_improvement * incumbent->objectives.front();
  price_ = study.objectives.front().is_cost() ? price->usd : price->seconds;
  unpaid_in_a_row_ = saving_ < price_ ? unpaid_in_a_row_ + 1 : 0;
  return unpaid_in_a_row_ >= k_unpaid_suggestions;
}

}  // namespace steptune
