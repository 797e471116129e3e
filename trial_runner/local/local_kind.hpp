// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/runner_kind.hpp"

namespace steptune {

/// Runs trials as processes on this machine.
[[nodiscard]] const RunnerKind& local_kind();

}  // namespace steptune
