// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/error.hpp"
#include "trial_runner/local/local_trial.hpp"
#include "trial_runner/local/spawn.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Starts a trial's main process, bound to `cpus` (none: not bound), with `environment` as all of
/// its environment and its output in a pipe. Should the kernel run out of memory, it takes the
/// trial rather than this program. Errors as `spawn`.
[[nodiscard]] Result<TrialProcess> launch(const TrialSpec& spec, const std::vector<int>& cpus,
                                          Environment environment);

}  // namespace steptune::local
