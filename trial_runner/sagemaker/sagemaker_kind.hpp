// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/runner_kind.hpp"

namespace steptune {

/// Returns the kind of runner that runs trials as SageMaker training jobs.
[[nodiscard]] const RunnerKind& sagemaker_kind();

}  // namespace steptune
