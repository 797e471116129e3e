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
  /// The first is the chosen change. The other changes follow from the chosen change: their
  /// parameters became active or inactive.
  std::vector<ValueChange> changes;
  Configuration configuration;  ///< configuration after the step
  /// Ratio of values before and after the step (above 1: better). If the path is not logarithmic,
  /// the difference.
  Estimate gain;
  /// True if a trial measured the value after the step; otherwise the model predicts it.
  bool measured = false;
};

/// Steps from the baseline to the best configuration, with the gain of each step.
struct AblationPath {
  bool logarithmic = true;
  Estimate gain;  ///< gain of the best configuration over the baseline
  std::vector<AblationStep> steps;
  std::string unknown;  ///< why there is no path, for people; otherwise empty
};

/// Returns a greedy path: at each configuration, the change with the largest gain comes next. C.
/// Fawcett and H. Hoos, "Analysing differences between algorithm configurations through ablation",
/// Journal of Heuristics 22(4), 2016. Instead of new runs, this function uses the study's trials.
/// For configurations without a trial, it uses the model. If `model` is null, only measured
/// configurations are known.
[[nodiscard]] AblationPath ablation_path(const SearchSpace& space, const TrialSamples& samples,
                                         const EffectsModel* model, bool less_is_better,
                                         const Configuration& baseline, const Configuration& best);

}  // namespace steptune
