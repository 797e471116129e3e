// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/memory_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

// Coordinate descent ends after a sweep that changes the errors by less than `k_converged`. If
// terms nearly depend on each other, it ends after `k_most_sweeps`.
constexpr int k_most_sweeps = 2000;
constexpr double k_converged = 1e-10;
// Limit of left-out ratios. If only the left-out trial shows a term, the other trials predict too
// little for it.
constexpr double k_largest_ratio = 1e3;

/// Normal equations of the relative errors: gradient = products * coefficients - sums.
struct NormalEquations {
  explicit NormalEquations(std::size_t terms) : products(terms, terms), sums(terms, 0.0) {}

  /// Adds (`sign` 1) or removes (-1) an example.
  void add(std::span<const double> terms, double value, double sign) {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      sums[i] += sign * terms[i] / value;
      for (std::size_t j = 0; j < terms.size(); ++j)
        products(i, j) += sign * terms[i] * terms[j] / (value * value);
    }
  }

  /// Minimises the squared relative errors by coordinate descent, with coefficients of at least 0.
  [[nodiscard]] std::vector<double> solve() const {
    std::vector<double> coefficients(sums.size(), 0.0);
    for (int sweep = 0; sweep < k_most_sweeps; ++sweep) {
      double largest = 0.0;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        if (!(products(i, i) > 0.0)) continue;
        const std::span<const double> row = products.row(i);
        const double gradient =
            std::inner_product(row.begin(), row.end(), coefficients.begin(), -sums[i]);
        const double better = std::max(0.0, coefficients[i] - gradient / products(i, i));
        const double change = std::abs(better - coefficients[i]) * std::sqrt(products(i, i));
        largest = std::max(largest, change);
        coefficients[i] = better;
      }
      if (largest < k_converged) break;
    }
    return coefficients;
  }

  Matrix products;
  std::vector<double> sums;
};

NormalEquations equations_of(const Matrix& terms, std::span<const double> values) {
  NormalEquations equations(terms.cols());
  for (std::size_t i = 0; i < values.size(); ++i)
    equations.add(terms.row(i), values[i], 1.0);
  return equations;
}

// Number of candidates for the limit. If the size of the memory is unknown, they reach from the
// highest measured peak to e^3 (20) times that peak.
constexpr int k_limits = 61;
constexpr double k_highest_log_ratio = 3.0;
// Least share of a memory of known size that trials can use.
constexpr double k_usable = 0.85;
// The model of peaks is used only if it explains the outcomes clearly better than a constant share
// of failures. Its log density must be higher by at least this number.
constexpr double k_least_gain = 1.0;

double log_share(double share) {
  return std::log(std::max(share, std::numeric_limits<double>::min()));
}

/// Adds to the learner `ratios` each peak divided by its prediction from the terms. The prediction
/// uses coefficients that are fitted to all other peaks. So the learner sees how well the terms
/// predict new trials.
Learner ratios_of(const Learner& peaks, const Matrix& terms, Learner ratios) {
  const std::vector<double> left_out = left_out_ratios(terms, peaks.values());
  for (std::size_t i = 0; i < left_out.size(); ++i)
    ratios.add(peaks.features().row(i), left_out[i], 0.0);
  return ratios;
}

}  // namespace

std::vector<double> fit_non_negative(const Matrix& terms, std::span<const double> values) {
  return equations_of(terms, values).solve();
}

double sum_of_terms(std::span<const double> terms, std::span<const double> coefficients) {
  const double sum = std::inner_product(terms.begin(), terms.end(), coefficients.begin(), 0.0);
  return std::max(sum, std::numeric_limits<double>::min());
}

std::vector<double> left_out_ratios(const Matrix& terms, std::span<const double> values) {
  NormalEquations equations = equations_of(terms, values);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < values.size(); ++i) {
    equations.add(terms.row(i), values[i], -1.0);
    const double ratio = values[i] / sum_of_terms(terms.row(i), equations.solve());
    ratios.push_back(std::clamp(ratio, 1.0 / k_largest_ratio, k_largest_ratio));
    equations.add(terms.row(i), values[i], 1.0);
  }
  return ratios;
}

MemoryTerms memory_terms(const SearchSpace& space, const FeatureMap& feature_map,
                         const std::vector<MemoryTerm>& terms) {
  if (terms.empty()) return {};
  return [&space, feature_map, terms](std::span<const double> features) {
    const Configuration configuration = space.decode(feature_map.point_of(features));
    std::vector<double> values{1.0};
    for (const MemoryTerm& term : terms) {
      const double value = term(configuration);
      values.push_back(std::isfinite(value) ? std::max(0.0, value) : 0.0);
    }
    return values;
  };
}

double ExplainedPeak::bytes(std::span<const double> features) const {
  return terms_ ? sum_of_terms(terms_(features), coefficients_) : 1.0;
}

std::vector<double> MemoryForecast::log_probabilities(const Matrix& features, std::size_t first,
                                                      std::size_t last) const {
  // Sum over limits of p(limit | outcomes) cdf((limit - mean) / deviation). This is the peak's
  // predictive distribution, averaged over the unknown limit (Rasmussen and Williams 2006, eq.
  // 2.25-2.26).
  const Posterior needed = model_.process.predict(features, first, last);
  std::vector<double> result;
  for (std::size_t i = 0; i < needed.means.size(); ++i) {
    const double deviation = std::sqrt(needed.variances[i]);
    const double explained = explained_.bytes(features.row(first + i));
    double probability = 0.0;
    for (std::size_t k = 0; k < limits_.size(); ++k) {
      const double limit = model_.transform.forward(limits_[k] / explained);
      probability += probabilities_[k] * normal_cdf((limit - needed.means[i]) / deviation);
    }
    result.push_back(log_share(probability));
  }
  return result;
}

MemoryModel::MemoryModel(const FeatureGroups& groups, std::size_t dimensions, MemoryTerms terms)
    : groups_(groups),
      dimensions_(dimensions),
      terms_(std::move(terms)),
      peaks_(groups, dimensions, true),
      exhausted_(groups.group_of_feature.size()) {}

void MemoryModel::add_peak(std::span<const double> features, double peak_bytes) {
  peaks_.add(features, peak_bytes, 0.0);
}

void MemoryModel::add_out_of_memory(std::span<const double> features) {
  exhausted_.append_row(features);
}

std::optional<MemoryForecast> MemoryModel::forecast() {
  const std::size_t fewest = terms_ ? Learner::k_first_fit : k_fewest_examples;
  const bool knows_limit = terms_ && limit_bytes_;
  if (peaks_.size() < fewest || (exhausted_.rows() == 0 && !knows_limit)) return std::nullopt;
  ExplainedPeak explained;
  std::optional<Learner> ratios;
  if (terms_) {
    const std::size_t count = terms_(peaks_.features().row(0)).size();
    Matrix terms(count);
    for (std::size_t i = 0; i < peaks_.size(); ++i)
      terms.append_row(terms_(peaks_.features().row(i)));
    explained = ExplainedPeak(terms_, fit_non_negative(terms, peaks_.values()));
    ratios = ratios_of(peaks_, terms, Learner(groups_, dimensions_, true));
  }
  Learner& learner = ratios ? *ratios : peaks_;
  Model model = learner.model(Matrix(exhausted_.cols()));
  const Posterior needed = model.process.predict(exhausted_);
  const Posterior left_out = model.process.leave_one_out().posterior;
  const auto seen = peaks_.values();
  const double highest = *std::ranges::max_element(seen);
  const auto target_of = [&](double limit, std::span<const double> features) {
    return model.transform.forward(limit / explained.bytes(features));
  };

  const double lowest = knows_limit ? std::max(highest, k_usable * *limit_bytes_) : highest;
  const double log_range =
      knows_limit ? std::max(0.0, std::log(*limit_bytes_ / lowest)) : k_highest_log_ratio;
  std::vector<double> limits;
  std::vector<double> densities;  // for each limit: log p(observed failures | limit)
  for (int k = 0; k < k_limits; ++k) {
    const double limit = lowest * std::exp(log_range * k / (k_limits - 1));
    // p(all failed trials run out of memory | limit) = product of cdf((needed - limit) / deviation)
    double density = 0.0;
    for (std::size_t i = 0; i < needed.means.size(); ++i) {
      density += log_normal_cdf((needed.means[i] - target_of(limit, exhausted_.row(i))) /
                                std::sqrt(needed.variances[i]));
    }
    limits.push_back(limit);
    densities.push_back(density);
  }
  const auto best =
      static_cast<std::size_t>(std::ranges::max_element(densities) - densities.begin());
  if (!std::isfinite(densities[best])) return std::nullopt;
  double sum = 0.0;
  std::vector<double> probabilities;
  for (const double density : densities) {
    probabilities.push_back(std::exp(density - densities[best]));
    sum += probabilities.back();
  }
  for (double& probability : probabilities)
    probability /= sum;

  // Add the log probability of the trials that fitted, each predicted from all others.
  double likelihood = densities[best];
  for (std::size_t i = 0; i < left_out.means.size(); ++i) {
    const double limit = target_of(limits[best], learner.features().row(i));
    likelihood += log_normal_cdf((limit - left_out.means[i]) / std::sqrt(left_out.variances[i]));
  }
  const auto fitted = static_cast<double>(left_out.means.size());
  const auto exhausted = static_cast<double>(needed.means.size());
  const double by_share = fitted * std::log(fitted / (fitted + exhausted)) +
                          exhausted * std::log(exhausted / (fitted + exhausted));
  if (exhausted > 0.0 && !(likelihood >= by_share + k_least_gain)) return std::nullopt;
  return MemoryForecast(std::move(model), std::move(explained), std::move(limits),
                        std::move(probabilities));
}

}  // namespace steptune::bayes
