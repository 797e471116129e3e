// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "trial_runner/live/live_channel.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::live {

/// Reason in the outcome of a trial that made the loss infinite or NaN.
inline constexpr std::string_view k_diverged =
    "the loss became infinite or NaN while these settings were in use";

/// Finds the trial whose settings made the loss of a shared program infinite or NaN. The program
/// reports its loss only in some steps. So another configuration may be set before such a loss is
/// reported.
class LossWatch {
 public:
  /// Records that `configuration` (`LiveStep::configuration`) has the trial's settings, which
  /// differ from the program's own.
  void record_switch(std::int64_t configuration, TrialKey trial);
  /// Adds a step. If the loss has become non-finite, returns the trials that may be the cause;
  /// otherwise returns none. Always returns none once the loss has become non-finite without a
  /// trial, as for a batch without labels.
  [[nodiscard]] std::set<TrialKey> add(const LiveStep& step);

 private:
  bool was_finite_ = false;
  /// True once the loss has become non-finite with the program's own settings.
  bool diverged_without_trial_ = false;
  /// Trials by configuration, from the configuration of the last reported loss on.
  std::map<std::int64_t, TrialKey> trials_;
};

}  // namespace steptune::live
