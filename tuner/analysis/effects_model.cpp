// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/effects_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "search/searchers/sobol_points.hpp"
#include "tuner/analysis/group_regression.hpp"
#include "tuner/analysis/vector_sums.hpp"

namespace steptune {
namespace {

/// The regression has about as many columns as there are samples, within these limits. They bound
/// the computing time. With many parameters it may have more.
constexpr std::size_t k_fewest_columns = 48;
constexpr std::size_t k_most_columns = 160;
/// With more parameters, only pairs of this many parameters are examined: those with the largest
/// single effects.
constexpr std::size_t k_most_paired = 14;
/// Largest sum of the degrees of two functions whose product is a column.
constexpr int k_roughest_pair = 7;
/// Number of points over which the variance of effects is computed.
constexpr std::size_t k_space_samples = 1024;

/// Returns for each parameter if it has several values among the samples.
std::vector<bool> differing(const SearchSpace& space, std::span<const EffectSample> samples) {
  std::vector<bool> result;
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    std::set<double> positions;
    for (const EffectSample& sample : samples) {
      if (sample.point[i] != k_inactive) positions.insert(sample.point[i]);
    }
    result.push_back(positions.size() > 1);
  }
  return result;
}

/// Returns at most `k_space_samples` points of `rows`, evenly spread.
std::vector<Point> spread_over(const std::vector<double>& rows, std::size_t width) {
  const std::size_t count = rows.size() / width;
  const std::size_t most = std::min(count, k_space_samples);
  std::vector<Point> points;
  for (std::size_t i = 0; i < most; ++i) {
    const auto row = std::span(rows).subspan(i * count / most * width, width);
    points.emplace_back(row.begin(), row.end());
  }
  return points;
}

/// Returns points of the space as its searchers draw them, within the constraints. If draws rarely
/// satisfy the constraints, lists all points of the space. If the space is too large for a list,
/// returns the points that were drawn. If these are few, adds the samples' points.
std::vector<Point> points_of(const SearchSpace& space, std::span<const EffectSample> samples) {
  constexpr int k_most_tries = 16 * static_cast<int>(k_space_samples);
  SobolPoints sequence(space.parameters().size(), 0);
  std::vector<Point> points;
  for (int i = 0; i < k_most_tries && points.size() < k_space_samples; ++i) {
    const std::vector<double> quantiles = sequence.next();
    if (auto point = space.point_at_quantiles(quantiles)) points.push_back(*std::move(point));
  }
  if (points.size() == k_space_samples) return points;
  if (const auto all = space.enumerate_points(k_most_counted)) {
    return spread_over(*all, space.parameters().size());
  }
  if (points.size() >= samples.size()) return points;
  for (const EffectSample& sample : samples)
    points.push_back(sample.point);
  return points;
}

}  // namespace

double mean_of_draws(const std::vector<double>& draws) {
  return std::accumulate(draws.begin(), draws.end(), 0.0) / static_cast<double>(draws.size());
}

Estimate estimate_of(std::vector<double> draws) {
  if (draws.empty()) return {};
  std::ranges::sort(draws);
  const auto quantile = [&](double q) {
    const double at = q * static_cast<double>(draws.size() - 1);
    const auto left = static_cast<std::size_t>(at);
    const std::size_t right = std::min(left + 1, draws.size() - 1);
    const double share = at - static_cast<double>(left);
    return (1.0 - share) * draws[left] + share * draws[right];
  };
  return {mean_of_draws(draws), quantile(0.025), quantile(0.975)};
}

void EffectsModel::choose_groups(const SearchSpace& space, std::span<const EffectSample> samples,
                                 const std::vector<bool>& varies,
                                 const std::vector<std::size_t>& paired) {
  const auto count = static_cast<std::size_t>(std::ranges::count(varies, true));
  const std::size_t most = std::clamp(samples.size(), k_fewest_columns, k_most_columns);
  // Half of the columns are for effects of single parameters, with at least two columns for each.
  const std::size_t each =
      std::clamp<std::size_t>(most / 2 / std::max<std::size_t>(1, count), 2, k_most_main_functions);
  for (std::size_t i = 0; i < varies.size(); ++i) {
    bases_.emplace_back(space.parameters()[i], varies[i] ? each : 0);
    if (!varies[i]) continue;
    groups_.push_back({i, std::nullopt});
    Products products;
    for (std::size_t k = 0; k < bases_[i].size(); ++k)
      products.push_back({k, 0, bases_[i].degree(k)});
    products_.push_back(std::move(products));
    width_ += bases_[i].size();
  }
  std::vector<EffectGroup> pairs;
  for (std::size_t a = 0; a < paired.size(); ++a) {
    for (std::size_t b = a + 1; b < paired.size(); ++b)
      pairs.push_back({paired[a], paired[b]});
  }
  const auto products_to = [&](const EffectGroup& pair, int roughest) {
    Products products;
    for (std::size_t k = 0; k < bases_[pair.first].size(); ++k) {
      for (std::size_t l = 0; l < bases_[*pair.second].size(); ++l) {
        const double degree = bases_[pair.first].degree(k) + bases_[*pair.second].degree(l);
        if (degree <= static_cast<double>(roughest)) products.push_back({k, l, degree - 1.0});
      }
    }
    return products;
  };
  const auto columns_to = [&](int roughest) {
    std::size_t columns = width_;
    for (const EffectGroup& pair : pairs)
      columns += products_to(pair, roughest).size();
    return columns;
  };
  int roughest = k_roughest_pair;
  while (roughest > 2 && columns_to(roughest) > most)
    --roughest;
  for (const EffectGroup& pair : pairs) {
    groups_.push_back(pair);
    products_.push_back(products_to(pair, roughest));
    width_ += products_.back().size();
  }
}

void EffectsModel::features(const Point& point, std::span<double> row) const {
  std::vector<std::span<double>> functions;
  std::size_t count = 0;
  for (const EffectBasis& basis : bases_)
    count += basis.size();
  std::vector<double> values(count);
  functions.reserve(bases_.size());
  count = 0;
  for (std::size_t i = 0; i < bases_.size(); ++i) {
    functions.push_back(std::span(values).subspan(count, bases_[i].size()));
    bases_[i].evaluate(point[i], functions[i]);
    count += bases_[i].size();
  }
  std::size_t at = 0;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const auto& first = functions[groups_[group].first];
    for (const Product& product : products_[group]) {
      row[at++] = first[product.first] *
                  (groups_[group].second ? functions[*groups_[group].second][product.second] : 1.0);
    }
  }
}

void EffectsModel::sample_posterior(std::span<const EffectSample> samples) {
  GroupRegressionInput input;
  const auto count = static_cast<double>(samples.size());
  double mean = 0.0;
  double squares = 0.0;
  for (const EffectSample& sample : samples) {
    mean += sample.value / count;
    squares += sample.value * sample.value / count;
  }
  // A smooth model is wrong by about a tenth of the values' spread. A sample's own error adds to
  // this.
  const double misfit = 0.01 * std::max(1e-300, squares - mean * mean);
  input.columns.resize(samples.size() * width_);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    input.values.push_back(samples[i].value);
    const double variance = samples[i].standard_error * samples[i].standard_error;
    input.weights.push_back(1.0 / (1.0 + variance / misfit));
    features(samples[i].point, std::span(input.columns).subspan(i * width_, width_));
  }
  std::size_t at = 0;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    input.starts.push_back(at);
    at += products_[group].size();
    // A function of twice the roughness has a quarter of the prior variance.
    for (const Product& product : products_[group])
      input.scales.push_back((groups_[group].second ? 0.5 : 1.0) / product.degree);
    input.inclusion.push_back(0.5);
  }
  input.starts.push_back(at);
  GroupRegression regression = regress_on_groups(input);
  mean_ = regression.value_mean;
  feature_means_ = std::move(regression.column_means);
  draws_ = std::move(regression.coefficients);
  for (const double variance : regression.residual_variances)
    unexplained_.push_back(std::sqrt(variance));
  explained_ = estimate_of(std::move(regression.explained));
}

void EffectsModel::compute_shares(const SearchSpace& space, std::span<const EffectSample> samples) {
  const std::vector<Point> points = points_of(space, samples);
  std::vector<double> rows(points.size() * width_);
  for (std::size_t i = 0; i < points.size(); ++i)
    features(points[i], std::span(rows).subspan(i * width_, width_));
  shares_.assign(groups_.size(), std::vector<double>(draws_.size(), 0.0));
  std::size_t begin = 0;
  std::vector<double> covariance;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const std::size_t size = products_[group].size();
    std::vector<double> means(size, 0.0);
    covariance.assign(size * size, 0.0);
    const auto count = static_cast<double>(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double* row = &rows[i * width_ + begin];
      for (std::size_t a = 0; a < size; ++a) {
        means[a] += row[a];
        add_multiple(&covariance[a * size], row, row[a], a + 1);
      }
    }
    for (double& mean : means)
      mean /= count;
    for (double& product : covariance)
      product /= count;
    for (std::size_t a = 0; a < size; ++a) {
      for (std::size_t b = 0; b < a; ++b)
        covariance[b * size + a] = covariance[a * size + b];
    }
    for (std::size_t draw = 0; draw < draws_.size(); ++draw) {
      double mean = 0.0;
      double square = 0.0;
      for (std::size_t a = 0; a < size; ++a) {
        const double coefficient = draws_[draw][begin + a];
        if (coefficient == 0.0) continue;
        mean += coefficient * means[a];
        for (std::size_t b = 0; b < size; ++b)
          square += coefficient * covariance[a * size + b] * draws_[draw][begin + b];
      }
      shares_[group][draw] = std::max(0.0, square - mean * mean);
    }
    begin += size;
  }
  for (std::size_t draw = 0; draw < draws_.size(); ++draw) {
    double total = 0.0;
    for (const auto& group : shares_)
      total += group[draw];
    for (auto& group : shares_)
      group[draw] = total > 0.0 ? group[draw] / total : 0.0;
  }
}

std::optional<EffectsModel> EffectsModel::fit(const SearchSpace& space,
                                              std::span<const EffectSample> samples) {
  if (samples.size() < k_fewest_samples) return std::nullopt;
  const auto [least, most] =
      std::ranges::minmax_element(samples, {}, [](const EffectSample& s) { return s.value; });
  if (least->value == most->value) return std::nullopt;
  const std::vector<bool> varies = differing(space, samples);
  std::vector<std::size_t> paired;
  for (std::size_t i = 0; i < varies.size(); ++i) {
    if (varies[i]) paired.push_back(i);
  }
  if (paired.empty()) return std::nullopt;
  const auto fitted = [&] {
    EffectsModel model;
    model.choose_groups(space, samples, varies, paired);
    model.sample_posterior(samples);
    model.compute_shares(space, samples);
    return model;
  };
  if (paired.size() > k_most_paired) {
    const std::vector<std::size_t> all = std::exchange(paired, {});
    const EffectsModel alone = fitted();
    std::vector<std::pair<double, std::size_t>> strength;
    for (std::size_t group = 0; group < all.size(); ++group)
      strength.emplace_back(-mean_of_draws(alone.shares_[group]), all[group]);
    std::ranges::sort(strength);
    for (std::size_t i = 0; i < k_most_paired; ++i)
      paired.push_back(strength[i].second);
    std::ranges::sort(paired);
  }
  return fitted();
}

std::vector<double> EffectsModel::values_at(const Point& point) const {
  std::vector<double> row(width_);
  features(point, row);
  std::vector<double> values;
  for (const auto& draw : draws_) {
    double value = 0.0;
    for (std::size_t j = 0; j < width_; ++j)
      value += (row[j] - feature_means_[j]) * draw[j];
    values.push_back(value);
  }
  return values;
}

std::vector<double> EffectsModel::main_effect(std::size_t parameter, double position) const {
  std::vector<double> functions(bases_[parameter].size());
  bases_[parameter].evaluate(position, functions);
  std::size_t begin = 0;
  for (std::size_t group = 0; groups_[group].first != parameter || groups_[group].second; ++group)
    begin += products_[group].size();
  std::vector<double> effects;
  for (const auto& draw : draws_) {
    double effect = 0.0;
    for (std::size_t k = 0; k < functions.size(); ++k)
      effect += functions[k] * draw[begin + k];
    effects.push_back(effect);
  }
  return effects;
}

}  // namespace steptune
