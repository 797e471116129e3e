// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/slow_limit.hpp"

#include <algorithm>
#include <cmath>

#include "trial_runner/cost/usage_cost.hpp"
#include "tuner/verdict/objectives.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

/// A trial must be slower by this factor in two short windows. The check runs in a container's
/// shell, which cannot compute intervals.
constexpr double k_clearly_slower = 1.5;

double longest_warmup_s(const Standing& standing) {
  double longest_s = 0.0;
  for (const TrialRecord& trial : standing.trials()) {
    // Skip trials without a steady state: their whole time counts as warm-up.
    if (trial.measurement && trial.measurement->status == MeasurementStatus::steady) {
      longest_s = std::max(longest_s, trial.measurement->warmup_s);
    }
  }
  return longest_s;
}

}  // namespace

std::optional<SlowLimit> slow_limit(const StudySpec& study, const Standing& standing,
                                    const Configuration& configuration,
                                    const TrialTargets& targets) {
  if (!targets.to_beat || study.objectives.size() != 1 || !all_timed(study)) return std::nullopt;
  const double per_second =
      study.objectives.front().is_cost() ? usage_usd(usd_per_hour(study, configuration), 1.0) : 1.0;
  const double limit =
      k_clearly_slower * *targets.to_beat / (planned_samples(study.planned_run) * per_second);
  if (!(limit > 0.0) || !std::isfinite(limit)) return std::nullopt;
  // Both windows together are as long as the study's least window.
  return SlowLimit{longest_warmup_s(standing), 0.5 * targets.measure.min_window_s, limit};
}

}  // namespace steptune
