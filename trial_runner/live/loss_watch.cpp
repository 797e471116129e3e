// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/loss_watch.hpp"

#include <utility>

namespace steptune::live {

void LossWatch::switched(std::int64_t configuration, TrialKey trial) {
  trials_.emplace(configuration, trial);
}

std::set<TrialKey> LossWatch::add(const LiveStep& step) {
  if (!step.has_finite_loss) return {};
  std::set<TrialKey> not_yet_reported;
  for (auto trial = trials_.begin(); trial != trials_.upper_bound(step.configuration); ++trial)
    not_yet_reported.insert(trial->second);
  trials_.erase(trials_.begin(), trials_.lower_bound(step.configuration));
  const bool was_finite = std::exchange(was_finite_, *step.has_finite_loss);
  if (*step.has_finite_loss || !was_finite) return {};
  comes_by_itself_ = comes_by_itself_ || not_yet_reported.empty();
  return comes_by_itself_ ? std::set<TrialKey>{} : not_yet_reported;
}

}  // namespace steptune::live
