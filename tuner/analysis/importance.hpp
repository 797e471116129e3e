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

/// Least share of a variance, or of a step's time, that is shown in a row.
inline constexpr double k_least_shown_share = 0.005;

/// Effect of a parameter alone, averaged over all other parameters.
struct MainEffect {
  Value least;  ///< the value at which the quantity is least
  Value most;
  /// Difference between most and least: a ratio on a logarithmic scale, otherwise a difference.
  Estimate size;
};

struct ParameterImportance {
  std::string parameter;
  /// False if the parameter had one value in all trials, so that its effect is unknown.
  bool varied = false;
  Estimate alone;   ///< share of the variance that the parameter explains alone
  Estimate in_all;  ///< `alone`, plus the shares of the parameter's effects together with each
                    ///< other parameter
  std::optional<MainEffect> effect;
};

struct PairImportance {
  std::string first;
  std::string second;
  Estimate share;  ///< share of the variance beyond the effects of each parameter alone
};

/// Importance of parameters for one quantity over the whole search space.
struct Importance {
  std::size_t trials = 0;  ///< number of trials used
  bool logarithmic = true;
  Estimate explained;  ///< share of the trials' variance that the model explains
  std::vector<ParameterImportance> parameters;  ///< most important first
  std::vector<PairImportance> pairs;  ///< strongest first; only pairs with a probable effect
  std::string why_unknown;            ///< text for people; empty if there is a result
};

/// True if the 95 % interval of the parameter's own effect excludes "no change". Otherwise its best
/// and worst values are mostly chance.
[[nodiscard]] bool has_clear_effect(const ParameterImportance& parameter,
                                    const Importance& importance);

/// Returns the importance of all parameters. If `model` is null, sets only `why_unknown`.
[[nodiscard]] Importance importance_of(const SearchSpace& space, const TrialSamples& samples,
                                       const EffectsModel* model);

}  // namespace steptune
