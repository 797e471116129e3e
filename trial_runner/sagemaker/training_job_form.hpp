// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/long_run.hpp"

namespace steptune {

/// `CreateTrainingJob`: the members of a request to SageMaker that follow from a configuration;
/// `Estimator`: the same as arguments of the Python SDK. Machines only where trials rented some,
/// and the command as well, which otherwise is none of an image's; with both, PyTorch's hook goes
/// along as it does with trials (carried_hook.hpp). Errors also for what the service refuses for
/// its length or number.
class TrainingJobForm : public LongRunForm {
 public:
  [[nodiscard]] std::string_view description() const override {
    return "members of CreateTrainingJob and arguments of an Estimator";
  }
  [[nodiscard]] bool takes_files_along(const LongRun& run) const override;
  [[nodiscard]] Result<Json> write(const LongRun& run) const override;
};

}  // namespace steptune
