// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "trial_runner/rehearsal_stage.hpp"
#include "trial_runner/sagemaker/sagemaker_settings.hpp"

namespace steptune {

/// Creates the runner of a study on a simulated account. The account grants every request for
/// machines.
[[nodiscard]] std::unique_ptr<RehearsalStage> make_simulated_stage(
    const SageMakerSettings& settings, const RehearsalOptions& options);

}  // namespace steptune
