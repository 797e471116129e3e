// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/space/search_space.hpp"
#include "tuner/analysis/effects_model.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// What a study's trials say of one quantity, as an effects model wants it.
struct TrialSamples {
  std::vector<EffectSample> samples;
  /// The values are natural logarithms: effects are factors. False where some value is not
  /// positive.
  bool logarithmic = true;
};

/// The trials' configurations as the space encodes them. Each of the following takes them where
/// they are known; else (empty) it encodes what it looks at.
[[nodiscard]] std::vector<Point> encoded(const SearchSpace& space,
                                         const std::vector<TrialRecord>& trials);

/// Values of an objective: of all trials that were measured, those that the scheduler stopped or
/// that violate a guard included, each with its error; confirming runs are further measurements of
/// their configuration. Of more than 2 000 trials, evenly many over the study.
[[nodiscard]] TrialSamples objective_samples(const SearchSpace& space,
                                             const std::vector<TrialRecord>& trials,
                                             std::size_t objective,
                                             std::span<const Point> points = {});
/// Steady-state seconds per sample of the same trials.
[[nodiscard]] TrialSamples step_time_samples(const SearchSpace& space,
                                             const std::vector<TrialRecord>& trials,
                                             std::span<const Point> points = {});
/// 1 for trials that failed, ran out of memory or violate a guard, 0 for those that did not.
[[nodiscard]] TrialSamples failure_samples(const SearchSpace& space,
                                           const std::vector<TrialRecord>& trials,
                                           std::span<const Point> points = {});

}  // namespace steptune
