// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/space/search_space.hpp"
#include "tuner/analysis/effects_model.hpp"
#include "tuner/analysis/trial_samples.hpp"

namespace steptune {

/// Change of one parameter from the baseline's value to the best configuration's.
struct ValueChange {
  std::string parameter;
  std::optional<Value> from;  ///< nullopt: inactive
  std::optional<Value> to;
};

struct AblationStep {
  /// The chosen change, then the changes that follow from it: parameters that became active or
  /// inactive.
  std::vector<ValueChange> changes;
  Configuration configuration;  ///< configuration after the step
  /// Improvement of the objective by the step: a ratio or a difference
  /// (`AblationPath::logarithmic`).
  Estimate gain;
  /// True if a trial measured the value after the step; otherwise the model predicts it.
  bool measured = false;
};

/// Steps from the baseline to the best configuration, with the gain of each step.
struct AblationPath {
  /// True: gains are ratios of values (above 1: better). False: gains are differences (above 0:
  /// better), because some values are not positive.
  bool logarithmic = true;
  Estimate gain;  ///< gain of the best configuration over the baseline
  std::vector<AblationStep> steps;
  std::string why_unknown;  ///< text for people: why there is no path; otherwise empty
};

/// Returns a greedy path: at each configuration, the change with the largest gain comes next (C.
/// Fawcett and H. Hoos, "Analysing differences between algorithm configurations through ablation",
/// Journal of Heuristics 22(4), 2016). Takes the value of a configuration from the study's trials,
/// otherwise from the model. Starts no runs. If `model` is null, the path uses only measured
/// configurations.
[[nodiscard]] AblationPath ablation_path(const SearchSpace& space, const TrialSamples& samples,
                                         const EffectsModel* model, bool less_is_better,
                                         const Configuration& baseline, const Configuration& best);

}  // namespace steptune
