// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/hooks/hook_log.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::live {

/// A trial that is measured in a running program, which continues after the trial.
struct SharedTrial {
  TrialSpec spec;
  double asked_s = 0.0;
  std::optional<double> started_s{};  ///< when its settings took effect
  bool lost_settings = false;         ///< the hook has reported that they no longer apply

  /// True if, since the last call, the program's hook has reported that the trial's settings do not
  /// apply. Returns true at most once. `spec.live` must be set.
  [[nodiscard]] bool notices_lost_settings(const HookLog& log);
};

/// Returns the messages of a program's hook, in the form of `Report::hook_events`.
[[nodiscard]] std::vector<std::string> hook_events(const HookLog& log);

}  // namespace steptune::live
