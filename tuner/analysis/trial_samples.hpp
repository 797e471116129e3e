// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/space/search_space.hpp"
#include "tuner/analysis/effects_model.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Values of one quantity from a study's trials, for an effects model.
struct TrialSamples {
  std::vector<EffectSample> samples;
  /// True if the values are natural logarithms, so that effects are factors. False if some value is
  /// not positive.
  bool logarithmic = true;
};

/// Encodes the trials' configurations as points of the space. Each function below accepts these
/// points. If there are none, the function encodes the trials itself.
[[nodiscard]] std::vector<Point> encoded(const SearchSpace& space,
                                         const std::vector<TrialRecord>& trials);

/// Returns values of an objective with their errors, for all measured trials. These include trials
/// that were stopped or violate a guard. Confirming runs count as further measurements of their
/// configuration. Leaves out values with an infinite error. If there are more than 2 000 trials,
/// takes an even selection over the study.
[[nodiscard]] TrialSamples objective_samples(const SearchSpace& space,
                                             const std::vector<TrialRecord>& trials,
                                             std::size_t objective,
                                             std::span<const Point> points = {});
/// Returns the seconds per sample, phases included, of the measured trials, without the drift of
/// the machine (`TrialRecord::level`). Some of these trials may have no steady state.
[[nodiscard]] TrialSamples step_time_samples(const SearchSpace& space,
                                             const std::vector<TrialRecord>& trials,
                                             std::span<const Point> points = {});
/// Returns 1 for trials that failed, ran out of memory or violated a guard, and 0 for trials that
/// can be ranked. Leaves out all other trials.
[[nodiscard]] TrialSamples failure_samples(const SearchSpace& space,
                                           const std::vector<TrialRecord>& trials,
                                           std::span<const Point> points = {});

}  // namespace steptune
