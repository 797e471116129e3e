// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/loop/loop.hpp"
#include "tuner/loop/standing.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// The name under which trials report the gradient noise scale, in samples.
inline constexpr const char* k_gradient_noise_scale = "gradient_noise_scale";

/// What the planned run of `recommendation` rests on and no trial has shown: phases that were not
/// seen, a deadline within its interval, another batch size than the baseline's. One sentence each.
///
/// A run at batch B needs (1 + B / B_noise) / (1 + B_0 / B_noise) times the samples of one at B_0.
/// B_noise grows during training, so what a trial reports at the begin is the end of a range whose
/// other end is 1. S. McCandlish et al., "An Empirical Model of Large-Batch Training", 2018, eq.
/// 2.11.
[[nodiscard]] std::vector<std::string> plan_notes(const StudySpec& study, const Standing& standing,
                                                  const Recommendation& recommendation);

}  // namespace steptune
