// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/long_run.hpp"

namespace steptune {

/// Writes a long run's settings as two objects. `CreateTrainingJob` has the members of a request to
/// SageMaker that a configuration determines. `Estimator` has the same values as arguments of the
/// Python SDK. Both contain machines and the command only if trials rented machines. They then
/// carry the Python hook as in trials (`add_carried_hook`). Returns an error if hyperparameters,
/// variables or the command's words are too long or too many for the service.
class TrainingJobForm : public LongRunForm {
 public:
  [[nodiscard]] std::string_view description() const override {
    return "members of CreateTrainingJob and arguments of an Estimator";
  }
  [[nodiscard]] bool takes_files_along(const LongRun& run) const override;
  [[nodiscard]] Result<Json> write(const LongRun& run) const override;
};

}  // namespace steptune
