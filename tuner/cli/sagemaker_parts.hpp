// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "trial_runner/sagemaker/aws/session.hpp"
#include "trial_runner/sagemaker/sagemaker_runner.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What the runner of a study's training jobs is told.
[[nodiscard]] SageMakerOptions sagemaker_options(const StudySpec& study);

/// The runner of a study's training jobs, connected to the account that the environment names.
/// `session` is what it speaks through, and outlives it, as `clock` does.
[[nodiscard]] Result<std::unique_ptr<Runner>> connect_sagemaker_runner(const StudySpec& study,
                                                                       const Clock& clock,
                                                                       aws::Session& session);

}  // namespace steptune
