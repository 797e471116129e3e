// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/importance.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace steptune {
namespace {

std::optional<MainEffect> effect_of(const Parameter& parameter, const EffectsModel& model,
                                    std::size_t index, bool logarithmic) {
  const auto& nodes = model.basis(index).nodes();
  std::vector<double> least;
  std::vector<double> most;
  MainEffect effect;
  for (const double node : nodes) {
    std::vector<double> at = model.main_effect(index, node);
    const double mean = mean_of_draws(at);
    if (least.empty() || mean < mean_of_draws(least)) {
      least = at;
      effect.least = parameter.at_position(node);
    }
    if (most.empty() || mean > mean_of_draws(most)) {
      most = std::move(at);
      effect.most = parameter.at_position(node);
    }
  }
  if (least.empty() || effect.least == effect.most) return std::nullopt;
  for (std::size_t draw = 0; draw < least.size(); ++draw) {
    const double difference = most[draw] - least[draw];
    most[draw] = logarithmic ? std::exp(difference) : difference;
  }
  effect.size = estimate_of(std::move(most));
  return effect;
}

std::string why_unknown(const TrialSamples& samples) {
  if (samples.samples.size() < EffectsModel::k_fewest_samples) {
    const std::size_t count = samples.samples.size();
    return fmt::format("only {} {} a value; {} are needed", count,
                       count == 1 ? "trial has" : "trials have", EffectsModel::k_fewest_samples);
  }
  const double first = samples.samples.front().value;
  const bool equal = std::ranges::all_of(
      samples.samples, [&](const EffectSample& sample) { return sample.value == first; });
  return equal ? "it is the same in all trials" : "no parameter differs among the trials";
}

}  // namespace

bool has_clear_effect(const ParameterImportance& parameter, const Importance& importance) {
  return parameter.effect && parameter.effect->size.low > (importance.logarithmic ? 1.0 : 0.0);
}

Importance importance_of(const SearchSpace& space, const TrialSamples& samples,
                         const EffectsModel* model) {
  Importance importance;
  importance.trials = samples.samples.size();
  importance.logarithmic = samples.logarithmic;
  if (model == nullptr) {
    importance.why_unknown = why_unknown(samples);
    return importance;
  }
  importance.explained = model->explained();
  std::vector<std::vector<double>> in_all(space.parameters().size(),
                                          std::vector<double>(model->draw_count(), 0.0));
  for (const Parameter& parameter : space.parameters())
    importance.parameters.emplace_back().parameter = parameter.name;
  for (std::size_t group = 0; group < model->groups().size(); ++group) {
    const EffectGroup& effect = model->groups()[group];
    const std::vector<double>& shares = model->shares()[group];
    for (std::size_t draw = 0; draw < shares.size(); ++draw) {
      in_all[effect.first][draw] += shares[draw];
      if (effect.second) in_all[*effect.second][draw] += shares[draw];
    }
    if (!effect.second) {
      ParameterImportance& parameter = importance.parameters[effect.first];
      parameter.varied = true;
      parameter.alone = estimate_of(shares);
      parameter.effect =
          effect_of(space.parameters()[effect.first], *model, effect.first, samples.logarithmic);
      continue;
    }
    const auto taking_part = std::ranges::count_if(shares, [](double s) { return s > 0.0; });
    PairImportance pair{space.parameters()[effect.first].name,
                        space.parameters()[*effect.second].name, estimate_of(shares)};
    // Show a pair only if at least half of the draws include it.
    if (2 * taking_part >= std::ssize(shares) && pair.share.mean >= k_least_shown_share) {
      importance.pairs.push_back(std::move(pair));
    }
  }
  for (std::size_t i = 0; i < in_all.size(); ++i)
    importance.parameters[i].in_all = estimate_of(std::move(in_all[i]));
  std::ranges::stable_sort(importance.parameters, [](const auto& a, const auto& b) {
    if (a.varied != b.varied) return a.varied;
    return a.in_all.mean > b.in_all.mean;
  });
  std::ranges::stable_sort(
      importance.pairs, [](const auto& a, const auto& b) { return a.share.mean > b.share.mean; });
  return importance;
}

}  // namespace steptune
