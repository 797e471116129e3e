// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/space/search_space.hpp"
#include "tuner/analysis/effects_model.hpp"
#include "tuner/analysis/trial_samples.hpp"

namespace steptune {

/// One parameter set from the baseline's value to the best configuration's.
struct ValueChange {
  std::string parameter;
  std::optional<Value> from;  ///< nothing: inactive
  std::optional<Value> to;
};

struct AblationStep {
  /// The first is what was set; others became active or inactive with it.
  std::vector<ValueChange> changes;
  Configuration configuration;  ///< after the step
  /// How many times better than before the step (above 1: better), or, not logarithmic, by how
  /// much.
  Estimate gain;
  bool measured = false;  ///< after the step; else the model tells
};

/// How the best configuration differs from the baseline, step by step, and what each step is worth.
struct AblationPath {
  bool logarithmic = true;
  Estimate gain;  ///< of the best over the baseline
  std::vector<AblationStep> steps;
  std::string unknown;  ///< why there is no path, for people; else empty
};

/// Greedy: at each configuration the change that gains most comes next. C. Fawcett and H. Hoos,
/// "Analysing differences between algorithm configurations through ablation", Journal of Heuristics
/// 22(4), 2016; in place of its runs the study's own trials where they measured a configuration,
/// and the model of them where they did not. `model` may be null: then only measured ones are
/// known.
[[nodiscard]] AblationPath ablation_path(const SearchSpace& space, const TrialSamples& samples,
                                         const EffectsModel* model, bool less_is_better,
                                         const Configuration& baseline, const Configuration& best);

}  // namespace steptune
