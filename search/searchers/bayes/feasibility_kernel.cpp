// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/feasibility_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include <boost/math/distributions/normal.hpp>

#include "common/numbers.hpp"
#include "search/searchers/bayes/distance_tables.hpp"
#include "search/searchers/bayes/matern.hpp"
#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

// Possible lengthscales, as shares of the range. Each is about twice the one before it. Finer steps
// hardly raise the likelihood.
constexpr double k_lengthscales[] = {0.25, 0.5, 1.0, 2.0, 5.0};
constexpr std::size_t k_prior_lengthscale = 1;  // index into the values above
// Possible amplitudes. The smallest models outcomes that are mostly chance, the largest models
// outcomes that the parameters determine. Before the first fit, the largest is used.
constexpr double k_amplitudes[] = {3.0, 27.0, 243.0};

/// Indices into `k_lengthscales`, one for each dimension, and into `k_amplitudes`.
struct Choice {
  std::vector<std::size_t> lengthscales;
  std::size_t amplitude = 0;
};

template <typename Values>
std::size_t place_of(const Values& values, double value) {
  const auto at = std::find(std::begin(values), std::end(values), value);
  return static_cast<std::size_t>(at - std::begin(values));
}

class Likelihood {
 public:
  Likelihood(const Matrix& features, const std::vector<bool>& outcomes, const FeatureGroups& groups)
      : outcomes_(outcomes), mean_(mean_of(outcomes)) {
    const PairDistances pairs(features, groups);
    pairs_ = pairs.pairs();
    covariances_.resize(pairs_);
    const std::vector<double> same(pairs_, 1.0);
    for (std::size_t j = 0; j < pairs.dimensions(); ++j) {
      auto& levels = by_dimension_.emplace_back();
      const std::vector<double>& distances = pairs.dimension(j);
      constant_.push_back(distances.empty());
      for (const double lengthscale : k_lengthscales) {
        auto& level = levels.emplace_back(distances);
        for (double& distance : level)
          distance /= lengthscale * lengthscale;
        matern52(level, level);
        if (distances.empty()) level = same;
      }
    }
  }

  [[nodiscard]] std::size_t dimensions() const { return by_dimension_.size(); }
  /// True if all examples agree in this dimension, so that its lengthscale cannot be learned.
  [[nodiscard]] bool constant(std::size_t dimension) const { return constant_[dimension]; }

  /// Returns the log probability of outcomes and choice, up to a constant; minus infinity if it is
  /// less than `least`.
  [[nodiscard]] double operator()(const Choice& choice, double least) {
    double total = 0.0;
    std::vector<const double*> levels;
    for (std::size_t j = 0; j < dimensions(); ++j) {
      levels.push_back(by_dimension_[j][choice.lengthscales[j]].data());
      const double deviation =
          std::log(k_lengthscales[choice.lengthscales[j]] / k_lengthscales[k_prior_lengthscale]);
      // The prior is normal over the logarithm of the lengthscale, with the variance 2.
      total -= 0.25 * deviation * deviation;
    }
    const double amplitude = k_amplitudes[choice.amplitude];
    interaction_covariances(amplitude, levels, covariances_);
    return filter(amplitude, total, least);
  }

 private:
  /// Returns `total` plus the log probability of each outcome given the outcomes before it. Returns
  /// minus infinity if the sum falls below `least`.
  [[nodiscard]] double filter(double amplitude, double total, double least) {
    const std::size_t size = outcomes_.size();
    // Row i has the covariances of outcome i with later outcomes, from column i on.
    upper_.resize(size * size);
    for (std::size_t i = 0, pair = 0; i < size; ++i) {
      for (std::size_t k = 0; k < i; ++k)
        upper_[k * size + i] = covariances_[pair++];
      upper_[i * size + i] = amplitude;
    }
    means_.assign(size, mean_);
    for (std::size_t i = 0; i < size; ++i) {
      const double* const row = upper_.data() + i * size;
      const ProbitUpdate update(means_[i], row[i], outcomes_[i]);
      total += update.log_probability;
      if (total < least) return -k_infinity;
      for (std::size_t k = i + 1; k < size; ++k) {
        means_[k] += row[k] * update.slope;
        const double scaled = row[k] * update.curvature;
        double* const later = upper_.data() + k * size;
        for (std::size_t m = k; m < size; ++m)
          later[m] -= scaled * row[m];
      }
    }
    return total;
  }

  const std::vector<bool>& outcomes_;
  double mean_;
  std::size_t pairs_ = 0;
  /// Covariances of all pairs of examples, by dimension, then by lengthscale.
  std::vector<std::vector<std::vector<double>>> by_dimension_;
  std::vector<bool> constant_;
  std::vector<double> covariances_;
  std::vector<double> upper_;
  std::vector<double> means_;
};

/// Returns `place` moved by one in the direction of `step`; nullopt at the end.
std::optional<std::size_t> moved(std::size_t place, int step, std::size_t count) {
  if (step < 0 ? place == 0 : place + 1 >= count) return std::nullopt;
  return step < 0 ? place - 1 : place + 1;
}

}  // namespace

void FeasibilityKernel::between(const Matrix& features, std::size_t first, std::size_t last,
                                const FeatureColumns& others, const FeatureGroups& groups,
                                Matrix& result) const {
  std::vector<double> weights;
  for (const double lengthscale : lengthscales)
    weights.push_back(1.0 / (lengthscale * lengthscale));
  const DistanceTables tables(features, first, last, groups, weights);
  thread_local Matrix covariances;
  std::vector<const double*> by_dimension(tables.dimensions());
  const std::size_t count = others.rows();
  result.reshape(last - first, count);
  for (std::size_t begin = 0; begin < count; begin += k_points_at_once) {
    const std::size_t block = std::min(k_points_at_once, count - begin);
    tables.fill(others, begin, block, covariances);
    const std::span<double> all(covariances.data(), covariances.rows() * block);
    matern52(all, all);
    for (std::size_t i = 0; i < result.rows(); ++i) {
      tables.find(covariances, i, by_dimension);
      interaction_covariances(amplitude, by_dimension, result.row(i).subspan(begin, block));
    }
  }
}

ProbitUpdate::ProbitUpdate(double mean, double variance, bool outcome) {
  // Rasmussen and Williams 2006, eq. 3.82 to 3.87: moments of the normal times the probit.
  const double left = std::max(variance, 0.0);
  const double sign = outcome ? 1.0 : -1.0;
  const double spread = std::sqrt(1.0 + left);
  const double z = sign * mean / spread;
  log_probability = log_normal_cdf(z);
  const double ratio = slope_of_log_cdf(z, log_probability);
  slope = sign * ratio / spread;
  curvature = std::max(ratio * (ratio + z), k_least_variance) / (spread * spread);
}

FeasibilityKernel prior_kernel(const FeatureGroups& groups) {
  return {std::vector<double>(groups.count, k_lengthscales[k_prior_lengthscale]),
          *std::rbegin(k_amplitudes)};
}

double mean_of(const std::vector<bool>& outcomes) {
  const auto successes = std::count(outcomes.begin(), outcomes.end(), true);
  return boost::math::quantile(
      boost::math::normal(),
      (static_cast<double>(successes) + 1.0) / (static_cast<double>(outcomes.size()) + 2.0));
}

FeasibilityKernel fit_kernel(const Matrix& features, const std::vector<bool>& outcomes,
                             const FeatureGroups& groups, const FeasibilityKernel& start) {
  Likelihood likelihood(features, outcomes, groups);
  Choice best;
  for (const double lengthscale : start.lengthscales)
    best.lengthscales.push_back(place_of(k_lengthscales, lengthscale));
  best.amplitude = place_of(k_amplitudes, start.amplitude);
  double most = likelihood(best, -k_infinity);
  const auto try_choice = [&](const Choice& choice) {
    const double value = likelihood(choice, most);
    if (!(value > most)) return false;
    most = value;
    best = choice;
    return true;
  };
  // Each pass moves every lengthscale and the amplitude, one at a time.
  for (int passes = 0; passes < 2; ++passes) {
    bool better = false;
    for (std::size_t j = 0; j <= likelihood.dimensions(); ++j) {
      const bool amplitude = j == likelihood.dimensions();
      if (!amplitude && likelihood.constant(j)) continue;
      for (const int step : {-1, 1}) {
        Choice choice = best;
        std::size_t& place = amplitude ? choice.amplitude : choice.lengthscales[j];
        const auto next =
            moved(place, step, amplitude ? std::size(k_amplitudes) : std::size(k_lengthscales));
        if (!next) continue;
        place = *next;
        if (!try_choice(choice)) continue;
        better = true;
        break;
      }
    }
    if (!better) break;
  }
  FeasibilityKernel kernel = start;
  for (std::size_t j = 0; j < kernel.lengthscales.size(); ++j)
    kernel.lengthscales[j] = k_lengthscales[best.lengthscales[j]];
  kernel.amplitude = k_amplitudes[best.amplitude];
  return kernel;
}

}  // namespace steptune::bayes
