// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/ablation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/rng.hpp"

namespace steptune {
namespace {

/// Number of draws without a model. A model has its own number of draws.
constexpr std::size_t k_draws = 200;
/// Assumed standard deviation between launches of a configuration, as a share. A single trial
/// cannot show this deviation. The value is the prior of `LaunchVariation`.
constexpr double k_least_relative_error = 0.015;

/// Values of configurations as draws. Draw i of one configuration belongs to draw i of every other
/// configuration.
class ConfigurationValues {
 public:
  ConfigurationValues(const TrialSamples& samples, const EffectsModel* model)
      : samples_(samples), model_(model), rng_(0, "ablation") {}

  [[nodiscard]] bool measured(const Point& point) const {
    return std::ranges::any_of(samples_.samples,
                               [&](const EffectSample& sample) { return sample.point == point; });
  }
  /// False if no trial measured the configuration and there is no model.
  [[nodiscard]] bool known(const Point& point) const {
    return model_ != nullptr || measured(point);
  }
  const std::vector<double>& at(const Point& point) {
    const auto known = values_.find(point);
    if (known != values_.end()) return known->second;
    return values_.emplace(point, measured(point) ? mean_of_trials(point) : modelled(point))
        .first->second;
  }

 private:
  std::vector<double> mean_of_trials(const Point& point) {
    double sum = 0.0;
    double weights = 0.0;
    for (const EffectSample& sample : samples_.samples) {
      if (sample.point != point) continue;
      const double least =
          samples_.logarithmic ? k_least_relative_error : 1e-3 * std::abs(sample.value) + 1e-150;
      const double error = std::hypot(sample.standard_error, least);
      sum += sample.value / (error * error);
      weights += 1.0 / (error * error);
    }
    std::vector<double> draws(model_ != nullptr ? model_->draw_count() : k_draws);
    for (double& draw : draws)
      draw = sum / weights + rng_.normal() / std::sqrt(weights);
    return draws;
  }
  /// Returns draws of the model's value, with the unexplained variation: a real value differs from
  /// the model by it.
  std::vector<double> modelled(const Point& point) {
    std::vector<double> draws = model_->values_at(point);
    for (std::size_t i = 0; i < draws.size(); ++i)
      draws[i] += model_->mean_value() + model_->unexplained()[i] * rng_.normal();
    return draws;
  }

  const TrialSamples& samples_;
  const EffectsModel* model_;
  Rng rng_;
  std::map<Point, std::vector<double>> values_;
};

/// Returns `from` with one coordinate of `to`, and with the coordinates that this change activates.
/// Returns nullopt if the space does not allow the change or nothing changes.
std::optional<Point> with_coordinate(const SearchSpace& space, const Point& from, const Point& to,
                                     std::size_t parameter) {
  if (from[parameter] == to[parameter] || from[parameter] == k_inactive) return std::nullopt;
  Point point = from;
  if (to[parameter] == k_inactive) return std::nullopt;
  point[parameter] = to[parameter];
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (point[i] == k_inactive) point[i] = to[i];
  }
  if (!space.snap(point) || point == from) return std::nullopt;
  return point;
}

std::optional<Value> value_at(const SearchSpace& space, const Point& point, std::size_t i) {
  if (point[i] == k_inactive) return std::nullopt;
  return space.parameters()[i].at_position(point[i]);
}

Estimate gain_between(const std::vector<double>& before, const std::vector<double>& after,
                      bool logarithmic, bool less_is_better) {
  std::vector<double> gains;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double gain = less_is_better ? before[i] - after[i] : after[i] - before[i];
    gains.push_back(logarithmic ? std::exp(gain) : gain);
  }
  return estimate_of(std::move(gains));
}

struct Candidate {
  Point point;
  std::optional<std::size_t> set;  ///< parameter to change; nullopt: all that differ
};

AblationStep step_to(const SearchSpace& space, const Point& from, const Candidate& next) {
  AblationStep step;
  step.configuration = space.decode(next.point);
  const auto add = [&](std::size_t i) {
    step.changes.push_back(
        {space.parameters()[i].name, value_at(space, from, i), value_at(space, next.point, i)});
  };
  if (next.set) add(*next.set);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != next.point[i] && next.set != i) add(i);
  }
  return step;
}

}  // namespace

AblationPath ablation_path(const SearchSpace& space, const TrialSamples& samples,
                           const EffectsModel* model, bool less_is_better,
                           const Configuration& baseline, const Configuration& best) {
  AblationPath path;
  path.logarithmic = samples.logarithmic;
  Point at = space.encode(baseline);
  const Point target = space.encode(best);
  ConfigurationValues values(samples, model);
  const auto has_nan = [](const Point& point) {
    return std::ranges::any_of(point, [](double c) { return std::isnan(c); });
  };
  if (has_nan(at) || has_nan(target) || !values.known(at) || !values.known(target)) {
    path.why_unknown = "baseline and best configuration were not both measured";
    return path;
  }
  path.gain = gain_between(values.at(at), values.at(target), path.logarithmic, less_is_better);
  while (at != target) {
    std::optional<Candidate> next;
    for (std::size_t i = 0; i < at.size(); ++i) {
      auto point = with_coordinate(space, at, target, i);
      if (!point || !values.known(*point)) continue;
      const double value = mean_of_draws(values.at(*point));
      const double chosen = next ? mean_of_draws(values.at(next->point)) : 0.0;
      if (!next || (less_is_better ? value < chosen : value > chosen)) {
        next = Candidate{*std::move(point), i};
      }
    }
    // If constraints allow no single step, or no step's value is known, make all remaining changes
    // at once.
    if (!next || path.steps.size() > at.size()) next = Candidate{target, std::nullopt};
    AblationStep step = step_to(space, at, *next);
    step.gain =
        gain_between(values.at(at), values.at(next->point), path.logarithmic, less_is_better);
    step.measured = values.measured(next->point);
    path.steps.push_back(std::move(step));
    at = std::move(next->point);
  }
  return path;
}

}  // namespace steptune
