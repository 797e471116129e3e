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

/// What a configuration's training program is taken to do.
struct AssumedSpeed {
  double seconds_per_sample = 0.0;
  double startup_s = 20.0;  ///< program's start to the first step
};
using SpeedModel = std::function<AssumedSpeed(const Configuration&)>;

/// Steps of 100 ms whatever the configuration.
[[nodiscard]] SpeedModel constant_speed(const StudySpec& study);
/// Seconds per sample as an expression over parameters and facts. Errors: it does not compile.
[[nodiscard]] Result<SpeedModel> expressed_speed(const StudySpec& study,
                                                 const std::string& seconds_per_sample);
/// As trials of an earlier tuning were measured; configurations that were not tried are taken to be
/// as fast as their mean. Nothing if none was measured.
[[nodiscard]] std::optional<SpeedModel> recorded_speed(const std::vector<TrialRecord>& trials);

}  // namespace steptune
