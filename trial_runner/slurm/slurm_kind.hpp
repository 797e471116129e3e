// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/runner_kind.hpp"

namespace steptune {

/// Returns the kind of runner that runs trials as job steps in allocations of a Slurm cluster.
[[nodiscard]] const RunnerKind& slurm_kind();

}  // namespace steptune
