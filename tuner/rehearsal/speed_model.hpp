// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Assumed speed of a configuration's training program.
struct AssumedSpeed {
  double seconds_per_sample = 0.0;
  double startup_s = 20.0;  ///< from the program's start to the first step
};
using SpeedModel = std::function<AssumedSpeed(const Configuration&)>;

/// Returns a model with steps of 100 ms for every configuration. `study` must outlive the model.
[[nodiscard]] SpeedModel constant_speed(const StudySpec& study);
/// Returns a model from an expression over parameters and facts. Fails if it does not compile, or
/// is not positive for some configurations.
[[nodiscard]] Result<SpeedModel> expressed_speed(const StudySpec& study,
                                                 const std::string& seconds_per_sample);
/// Returns a model from the measured trials of an earlier tuning. Configurations that were not
/// measured get the mean speed. Returns nullopt if no trial was measured.
[[nodiscard]] std::optional<SpeedModel> recorded_speed(const std::vector<TrialRecord>& trials);

}  // namespace steptune
