// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "trial_runner/rehearsal_stage.hpp"
#include "trial_runner/sagemaker/sagemaker_settings.hpp"

namespace steptune {

/// The runner of a study's jobs on a simulated account that grants what they need.
[[nodiscard]] std::unique_ptr<RehearsalStage> make_simulated_stage(
    const SageMakerSettings& settings, const RehearsalOptions& options);

}  // namespace steptune
