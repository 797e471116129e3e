// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "trial_runner/runner_kinds.hpp"

namespace steptune {

/// Returns the kinds of runners for which the member function `offers` returns a service, in the
/// order of registration.
template <typename Service>
[[nodiscard]] std::vector<const RunnerKind*> kinds_that_offer(const Service* (RunnerKind::*offers)()
                                                                  const) {
  std::vector<const RunnerKind*> kinds;
  for (const RunnerKind* kind : runner_kinds()) {
    if ((kind->*offers)() != nullptr) kinds.push_back(kind);
  }
  return kinds;
}

/// Adds `--runner KIND`, one of `kinds`. Sets `name` to the first kind, which is the default.
void add_kind_option(CLI::App& command, const std::vector<const RunnerKind*>& kinds,
                     std::string& name);

}  // namespace steptune
