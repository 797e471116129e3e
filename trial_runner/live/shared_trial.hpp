// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/hooks/hook_log.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::live {

/// A trial that is measured in a running program, which goes on after it.
struct SharedTrial {
  TrialSpec spec;
  double asked_s = 0.0;
  std::optional<double> started_s{};  ///< its settings came into force then
  bool lost_settings = false;         ///< they have ceased to be in force

  /// Whether the program's hook, with them set, has told since the last call that they are not in
  /// force: true at most once. `spec.live` is there.
  [[nodiscard]] bool loses_settings(const HookLog& log);
};

/// What a program's hook has told, as `Report::hook_events` holds it.
[[nodiscard]] std::vector<std::string> hook_events(const HookLog& log);

}  // namespace steptune::live
