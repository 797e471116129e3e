// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/kernel.hpp"

#include <algorithm>
#include <cmath>

#include "search/searchers/bayes/distance_tables.hpp"
#include "search/searchers/bayes/matern.hpp"

namespace steptune::bayes {
namespace {

void add_scaled(std::span<const double> from, double factor, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] += factor * from[i];
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> ranges_of(const FeatureGroups& groups) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges(groups.count);
  for (std::size_t f = 0; f < groups.group_of_feature.size(); ++f) {
    auto& range = ranges[groups.group_of_feature[f]];
    if (range.second == 0) range.first = f;
    range.second = f + 1;
  }
  return ranges;
}

Kernel::Kernel(const Hyperparameters& hyperparameters)
    : additive_share(1.0 / (1.0 + std::exp(-hyperparameters.additive_odds))),
      amplitude(std::exp(hyperparameters.log_amplitude)) {
  for (const double log_lengthscale : hyperparameters.log_lengthscales) {
    weights.push_back(std::exp(-2.0 * log_lengthscale));
  }
}

void Kernel::between(const Matrix& features, std::size_t first, std::size_t last,
                     const FeatureColumns& others, std::size_t count, const FeatureGroups& groups,
                     Matrix& result) const {
  const DistanceTables tables(features, first, last, groups, weights);
  const std::size_t dimensions = tables.dimensions();
  const KernelMixture mixture{amplitude * (1.0 - additive_share),
                              amplitude * additive_share / static_cast<double>(dimensions)};
  thread_local Matrix distances;
  thread_local Matrix additive;
  std::vector<const double*> distance_rows(dimensions);
  std::vector<const double*> additive_rows(dimensions);
  result.reshape(last - first, count);
  for (std::size_t begin = 0; begin < count; begin += k_points_at_once) {
    const std::size_t block = std::min(k_points_at_once, count - begin);
    tables.fill(others, begin, block, distances);
    additive.reshape(distances.rows(), block);
    matern52({distances.data(), distances.rows() * block},
             {additive.data(), additive.rows() * block});
    for (std::size_t i = 0; i < result.rows(); ++i) {
      tables.find(distances, i, distance_rows);
      tables.find(additive, i, additive_rows);
      mixed_covariances(mixture, distance_rows, additive_rows, result.row(i).subspan(begin, block));
    }
  }
}

PairDistances::PairDistances(const Matrix& features, const FeatureGroups& groups)
    : rows_(features.rows()) {
  for (const auto& [begin, end] : ranges_of(groups)) {
    std::vector<double> distances(pairs());
    double largest = 0.0;
    std::size_t p = 0;
    for (std::size_t i = 1; i < rows_; ++i) {
      for (std::size_t k = 0; k < i; ++k, ++p) {
        for (std::size_t f = begin; f < end; ++f) {
          const double difference = features(i, f) - features(k, f);
          distances[p] += difference * difference;
        }
        largest = std::max(largest, distances[p]);
      }
    }
    if (largest == 0.0) distances.clear();
    by_dimension_.push_back(std::move(distances));
  }
}

PairCovariances::PairCovariances(const PairDistances& pairs)
    : pairs_(pairs),
      values_(pairs.pairs()),
      joint_values_(pairs.pairs()),
      joint_slopes_(pairs.pairs()),
      additive_values_(pairs.pairs()),
      additive_slopes_(pairs.dimensions()) {
  for (std::size_t j = 0; j < pairs.dimensions(); ++j)
    additive_slopes_[j].resize(pairs.dimension(j).size());
}

void PairCovariances::compute(const Kernel& kernel) {
  additive_share_ = kernel.additive_share;
  weights_ = kernel.weights;
  const double each = 1.0 / static_cast<double>(pairs_.dimensions());
  double constant = 0.0;
  std::ranges::fill(joint_values_, 0.0);
  std::ranges::fill(additive_values_, 0.0);
  std::vector<double>& covariances = values_;  // covariances of one dimension, until all are summed
  for (std::size_t j = 0; j < pairs_.dimensions(); ++j) {
    const auto& distances = pairs_.dimension(j);
    if (distances.empty()) {
      constant += each;
      continue;
    }
    const double weight = weights_[j];
    for (std::size_t p = 0; p < distances.size(); ++p) {
      covariances[p] = weight * distances[p];
      joint_values_[p] += covariances[p];
    }
    matern52_with_slopes(covariances, additive_slopes_[j]);
    add_scaled(covariances, each, additive_values_);
  }
  matern52_with_slopes(joint_values_, joint_slopes_);
  for (std::size_t p = 0; p < values_.size(); ++p) {
    additive_values_[p] += constant;
    values_[p] = (1.0 - additive_share_) * joint_values_[p] + additive_share_ * additive_values_[p];
  }
}

std::vector<double> PairCovariances::gradient(std::span<const double> sensitivities) const {
  std::vector<double> result(pairs_.dimensions() + 1);
  const double each = additive_share_ / static_cast<double>(pairs_.dimensions());
  std::vector<double> joint(sensitivities.size());
  for (std::size_t p = 0; p < joint.size(); ++p)
    joint[p] = (1.0 - additive_share_) * joint_slopes_[p] * sensitivities[p];
  for (std::size_t j = 0; j < pairs_.dimensions(); ++j) {
    const auto& distances = pairs_.dimension(j);
    if (distances.empty()) continue;
    const auto& slopes = additive_slopes_[j];
    double sum = 0.0;
    for (std::size_t p = 0; p < distances.size(); ++p) {
      sum += (joint[p] + each * slopes[p] * sensitivities[p]) * distances[p];
    }
    result[j] = -2.0 * weights_[j] * sum;
  }
  double difference = 0.0;
  for (std::size_t p = 0; p < sensitivities.size(); ++p)
    difference += sensitivities[p] * (additive_values_[p] - joint_values_[p]);
  result.back() = additive_share_ * (1.0 - additive_share_) * difference;
  return result;
}

}  // namespace steptune::bayes
