// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "search/space/search_space.hpp"
#include "tuner/analysis/effects_model.hpp"
#include "tuner/analysis/trial_samples.hpp"

namespace steptune {

/// What a parameter does by itself, averaged over all others.
struct MainEffect {
  Value least;  ///< the value at which the quantity is least
  Value most;
  /// Most to least: their ratio on a logarithmic scale, else their difference.
  Estimate size;
};

struct ParameterImportance {
  std::string parameter;
  bool varied = false;  ///< false: it had one value in all trials, so nothing is known
  Estimate alone;       ///< share of the variance that it explains by itself
  Estimate in_all;      ///< and with what it does together with each other parameter
  std::optional<MainEffect> effect;
};

struct PairImportance {
  std::string first;
  std::string second;
  Estimate share;  ///< of the variance, beyond what the two do by themselves
};

/// Which parameters matter for one quantity over the whole search space.
struct Importance {
  std::size_t trials = 0;  ///< that it rests on
  bool logarithmic = true;
  Estimate explained;  ///< share of the trials' variance that the model explains
  std::vector<ParameterImportance> parameters;  ///< most important first
  std::vector<PairImportance> pairs;            ///< strongest first; only those that are likely
  std::string unknown;                          ///< why there is nothing, for people; else empty
};

/// True if the parameter's interval excludes "no change"; otherwise its best and worst value are as
/// good as drawn by lot.
[[nodiscard]] bool has_clear_effect(const ParameterImportance& parameter,
                                    const Importance& importance);

/// `model` is null where there is none; what is then `unknown` is told.
[[nodiscard]] Importance importance_of(const SearchSpace& space, const TrialSamples& samples,
                                       const EffectsModel* model);

}  // namespace steptune
