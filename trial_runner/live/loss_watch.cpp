// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/loss_watch.hpp"

#include <utility>

namespace steptune::live {

void LossWatch::record_switch(std::int64_t configuration, TrialKey trial) {
  trials_.emplace(configuration, trial);
}

std::set<TrialKey> LossWatch::add(const LiveStep& step) {
  if (!step.has_finite_loss) return {};
  // Any trial whose settings were in use since the last reported loss can be the cause.
  std::set<TrialKey> suspects;
  for (auto trial = trials_.begin(); trial != trials_.upper_bound(step.configuration); ++trial)
    suspects.insert(trial->second);
  trials_.erase(trials_.begin(), trials_.lower_bound(step.configuration));
  const bool was_finite = std::exchange(was_finite_, *step.has_finite_loss);
  if (*step.has_finite_loss || !was_finite) return {};
  diverged_without_trial_ = diverged_without_trial_ || suspects.empty();
  return diverged_without_trial_ ? std::set<TrialKey>{} : suspects;
}

}  // namespace steptune::live
