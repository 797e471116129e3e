// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night_prediction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "tuner/retune/night_times.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/scatter.hpp"

namespace steptune {
namespace {

/// Prior standard deviation between nights, as a share. It has the same degrees of freedom as the
/// prior deviation between launches.
constexpr double k_among_nights = 0.005;
/// Largest number of degrees of freedom that former nights contribute to the launch variation. The
/// limit lets the estimate follow slow changes.
constexpr double k_most_launch_freedom = 12.0;

void add_spread(const std::vector<double>& values, Scatter& spread) {
  if (values.size() < 2) return;
  const double mean = mean_log(values);
  for (const double value : values)
    spread.squares += (value - mean) * (value - mean);
  spread.degrees_of_freedom += static_cast<double>(values.size()) - 1.0;
}

/// Returns `known` with the variation among the launches of `night` added.
Scatter launch_spread(const Scatter& known, const NightTimes& night) {
  Scatter spread = known;
  add_spread(night.incumbent, spread);
  add_spread(night.baseline, spread);
  return spread;
}

Scatter known_launch_spread(std::span<const NightTimes> nights) {
  const LaunchVariation prior;
  Scatter spread{prior.degrees_of_freedom * prior.relative * prior.relative,
                 prior.degrees_of_freedom};
  for (const NightTimes& night : nights)
    spread = launch_spread(spread, night);
  if (spread.degrees_of_freedom > k_most_launch_freedom) {
    spread.squares *= k_most_launch_freedom / spread.degrees_of_freedom;
    spread.degrees_of_freedom = k_most_launch_freedom;
  }
  return spread;
}

struct NightValue {
  double mean = 0.0;
  double launches = 0.0;  ///< variance of the mean, in units of the variance of a launch
};

std::optional<NightValue> value_of(const NightTimes& night, NightStatistic statistic) {
  if (night.incumbent.empty()) return std::nullopt;
  NightValue value{mean_log(night.incumbent), 1.0 / static_cast<double>(night.incumbent.size())};
  if (statistic == NightStatistic::incumbent) return value;
  if (night.baseline.empty()) return std::nullopt;
  value.mean -= mean_log(night.baseline);
  value.launches += 1.0 / static_cast<double>(night.baseline.size());
  return value;
}

/// Common level of several nights.
struct Level {
  double mean = 0.0;
  double variance = 0.0;  ///< variance of the mean
  Scatter nights;         ///< between nights, beyond what launches explain
  Scatter launches;       ///< between launches of one night
};

/// Returns the common level of the nights; nullopt if no night has the statistic.
std::optional<Level> level_of(std::span<const NightTimes> nights, NightStatistic statistic) {
  Level level;
  level.launches = known_launch_spread(nights);
  std::vector<NightValue> values;
  std::vector<double> variances;  // for each value, the variance that comes from launches
  for (const NightTimes& night : nights) {
    const auto value = value_of(night, statistic);
    if (!value) continue;
    values.push_back(*value);
    variances.push_back(value->launches * launch_spread(level.launches, night).variance());
  }
  if (values.empty()) return std::nullopt;
  const auto weighted_mean = [&](double among_nights, double& total) {
    double sum = 0.0;
    total = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double weight = 1.0 / (among_nights + variances[i]);
      sum += weight * values[i].mean;
      total += weight;
    }
    return sum / total;
  };
  double total = 0.0;
  const double first_mean = weighted_mean(k_among_nights * k_among_nights, total);
  double excess = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double deviation = values[i].mean - first_mean;
    excess += deviation * deviation - variances[i];
  }
  const double prior_freedom = LaunchVariation{}.degrees_of_freedom;
  level.nights = {prior_freedom * k_among_nights * k_among_nights + std::max(0.0, excess),
                  prior_freedom + static_cast<double>(values.size()) - 1.0};
  level.mean = weighted_mean(level.nights.variance(), total);
  level.variance = 1.0 / total;
  return level;
}

/// A variance with the degrees of freedom of its estimate.
struct EstimatedVariance {
  double variance = 0.0;
  double freedom = 1.0;
};

/// Returns the degrees of freedom of the sum of two estimated variances.
double welch_freedom(const EstimatedVariance& a, const EstimatedVariance& b) {
  const double sum = a.variance + b.variance;
  return sum * sum / (a.variance * a.variance / a.freedom + b.variance * b.variance / b.freedom);
}

/// Returns the standard normal quantile that corresponds to Student's `t`. Uses the smaller tail,
/// which is more precise.
double normal_score(double t, double freedom) {
  const boost::math::students_t student(freedom);
  const double tail =
      std::max(std::numeric_limits<double>::min(), boost::math::cdf(student, -std::abs(t)));
  return std::copysign(-boost::math::quantile(boost::math::normal(), std::min(0.5, tail)), t);
}

}  // namespace

double score_of(std::span<const NightTimes> past, const NightTimes& night, NightStatistic statistic,
                const WatchOptions& options) {
  const auto level = level_of(past, statistic);
  const auto value = value_of(night, statistic);
  if (!level || !value) return 0.0;
  const Scatter launches = launch_spread(level->launches, night);
  // Treat the level's variance as variance of launches, from which most of it comes.
  const double of_launches = value->launches * launches.variance() + level->variance;
  const double of_nights = level->nights.variance();
  const double variance = of_launches + of_nights;
  const double freedom = welch_freedom({of_launches, launches.degrees_of_freedom},
                                       {of_nights, level->nights.degrees_of_freedom});
  const double least = 0.5 * options.least_slowdown;
  return normal_score((value->mean - level->mean) / std::max(std::sqrt(variance), least), freedom);
}

std::optional<NightShift> shift_between(std::span<const NightTimes> before,
                                        std::span<const NightTimes> after, NightStatistic statistic,
                                        const WatchOptions& options) {
  const auto level = level_of(before, statistic);
  const auto now = level_of(after, statistic);
  if (!level || !now) return std::nullopt;
  const double least = 0.5 * options.least_slowdown;
  const double among = std::max(level->nights.variance(), least * least / 2.0);
  const double of_nights = among / static_cast<double>(after.size());
  const double of_launches = level->variance + now->variance;
  return NightShift{now->mean - level->mean, std::sqrt(of_launches + of_nights),
                    welch_freedom({of_launches, now->launches.degrees_of_freedom},
                                  {of_nights, level->nights.degrees_of_freedom})};
}

}  // namespace steptune
