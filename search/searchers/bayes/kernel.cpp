// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/kernel.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

namespace steptune::bayes {
namespace {

/// Matern 5/2: overwrites squared distances by covariances; `slopes`, where wanted, receives the
/// derivatives by the squared distance.
void matern52(std::span<double> squared_distances, double* slopes) {
  const at::InferenceMode no_autograd;
  // Roots and exponentials are what a kernel costs; LibTorch's use the machine's vector units.
  at::Tensor scaled = at::from_blob(
      squared_distances.data(), {static_cast<std::int64_t>(squared_distances.size())}, at::kDouble);
  scaled.mul_(5.0).sqrt_();
  const at::Tensor decays = scaled.neg().exp_();
  const double* decay = decays.data_ptr<double>();
  double* value = squared_distances.data();
  const std::size_t count = squared_distances.size();
  if (slopes != nullptr) {
    for (std::size_t p = 0; p < count; ++p)
      slopes[p] = -5.0 / 6.0 * (1.0 + value[p]) * decay[p];
  }
  for (std::size_t p = 0; p < count; ++p)
    value[p] = (1.0 + value[p] + value[p] * value[p] / 3.0) * decay[p];
}

void add_scaled(std::span<const double> from, double factor, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] += factor * from[i];
}

/// First and one past last feature of each dimension.
std::vector<std::pair<std::size_t, std::size_t>> ranges_of(const FeatureGroups& groups) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges(groups.count);
  for (std::size_t f = 0; f < groups.group_of_feature.size(); ++f) {
    auto& range = ranges[groups.group_of_feature[f]];
    if (range.second == 0) range.first = f;
    range.second = f + 1;
  }
  return ranges;
}

/// Rows [first, last) by the different values that they take in some features.
struct Distinct {
  std::vector<std::size_t> rows;   ///< one of each
  std::vector<std::size_t> place;  ///< in `rows`, for each row
};

Distinct distinct_rows(const Matrix& features, std::size_t first, std::size_t last,
                       std::pair<std::size_t, std::size_t> range) {
  Distinct result;
  const auto values = [&](std::size_t row) {
    return features.row(row).subspan(range.first, range.second - range.first);
  };
  const auto less = [&](std::size_t a, std::size_t b) {
    const auto x = values(a);
    const auto y = values(b);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  };
  std::vector<std::size_t> order;
  for (std::size_t row = first; row < last; ++row)
    order.push_back(row);
  std::sort(order.begin(), order.end(), less);
  result.place.resize(last - first);
  for (const std::size_t row : order) {
    if (result.rows.empty() || less(result.rows.back(), row)) result.rows.push_back(row);
    result.place[row - first] = result.rows.size() - 1;
  }
  return result;
}

}  // namespace

Kernel::Kernel(const Hyperparameters& hyperparameters)
    : additive_share(1.0 / (1.0 + std::exp(-hyperparameters.additive_odds))) {
  for (const double log_lengthscale : hyperparameters.log_lengthscales) {
    weights.push_back(std::exp(-2.0 * log_lengthscale));
  }
}

Matrix Kernel::between(const Matrix& features, std::size_t first, std::size_t last,
                       const Matrix& others, const FeatureGroups& groups) const {
  const std::size_t count = others.rows();
  Matrix joint(last - first, count);
  Matrix additive(last - first, count);
  const auto ranges = ranges_of(groups);
  const double each = additive_share / static_cast<double>(ranges.size());
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    // Candidates share most of their coordinates: one kernel per different one.
    const Distinct distinct = distinct_rows(features, first, last, ranges[j]);
    Matrix distances(distinct.rows.size(), count);
    for (std::size_t d = 0; d < distinct.rows.size(); ++d) {
      const auto row = distances.row(d);
      for (std::size_t f = ranges[j].first; f < ranges[j].second; ++f) {
        const double value = features(distinct.rows[d], f);
        for (std::size_t k = 0; k < count; ++k) {
          const double difference = value - others(k, f);
          row[k] += weights[j] * difference * difference;
        }
      }
    }
    for (std::size_t i = 0; i < last - first; ++i)
      add_scaled(distances.row(distinct.place[i]), 1.0, joint.row(i));
    matern52({distances.data(), distinct.rows.size() * count}, nullptr);
    for (std::size_t i = 0; i < last - first; ++i)
      add_scaled(distances.row(distinct.place[i]), each, additive.row(i));
  }
  const std::span<double> values(joint.data(), (last - first) * count);
  matern52(values, nullptr);
  for (std::size_t p = 0; p < values.size(); ++p)
    values[p] = (1.0 - additive_share) * values[p] + additive.data()[p];
  return joint;
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

PairCovariances::PairCovariances(const PairDistances& pairs, const Kernel& kernel,
                                 bool gradient_wanted)
    : pairs_(pairs),
      kernel_(kernel),
      values_(pairs.pairs()),
      joint_values_(pairs.pairs()),
      joint_slopes_(gradient_wanted ? pairs.pairs() : 0),
      additive_values_(pairs.pairs()),
      additive_slopes_(pairs.dimensions()) {
  const double each = 1.0 / static_cast<double>(pairs.dimensions());
  double constant = 0.0;
  std::vector<double> covariances(pairs.pairs());
  for (std::size_t j = 0; j < pairs.dimensions(); ++j) {
    const auto& distances = pairs.dimension(j);
    if (distances.empty()) {
      constant += each;
      continue;
    }
    const double weight = kernel.weights[j];
    for (std::size_t p = 0; p < distances.size(); ++p) {
      covariances[p] = weight * distances[p];
      joint_values_[p] += covariances[p];
    }
    if (gradient_wanted) additive_slopes_[j].resize(distances.size());
    matern52(covariances, gradient_wanted ? additive_slopes_[j].data() : nullptr);
    add_scaled(covariances, each, additive_values_);
  }
  matern52(joint_values_, gradient_wanted ? joint_slopes_.data() : nullptr);
  const double share = kernel.additive_share;
  for (std::size_t p = 0; p < values_.size(); ++p) {
    additive_values_[p] += constant;
    values_[p] = (1.0 - share) * joint_values_[p] + share * additive_values_[p];
  }
}

std::vector<double> PairCovariances::gradient(std::span<const double> sensitivities) const {
  std::vector<double> result(pairs_.dimensions() + 1);
  const double share = kernel_.additive_share;
  const double each = share / static_cast<double>(pairs_.dimensions());
  std::vector<double> joint(sensitivities.size());
  for (std::size_t p = 0; p < joint.size(); ++p)
    joint[p] = (1.0 - share) * joint_slopes_[p] * sensitivities[p];
  for (std::size_t j = 0; j < pairs_.dimensions(); ++j) {
    const auto& distances = pairs_.dimension(j);
    if (distances.empty()) continue;
    const auto& slopes = additive_slopes_[j];
    double sum = 0.0;
    for (std::size_t p = 0; p < distances.size(); ++p) {
      sum += (joint[p] + each * slopes[p] * sensitivities[p]) * distances[p];
    }
    result[j] = -2.0 * kernel_.weights[j] * sum;
  }
  double difference = 0.0;
  for (std::size_t p = 0; p < sensitivities.size(); ++p)
    difference += sensitivities[p] * (additive_values_[p] - joint_values_[p]);
  result.back() = share * (1.0 - share) * difference;
  return result;
}

}  // namespace steptune::bayes
