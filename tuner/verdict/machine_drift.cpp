// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/machine_drift.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "common/interval.hpp"
#include "tuner/verdict/disturbed_runs.hpp"
#include "tuner/verdict/launch_variation.hpp"

namespace steptune {
namespace {

/// Largest walk that is tried: standard deviation of the level's change from the first run to the
/// last, as a multiple of the standard deviation of launches. The least walk is as large as that
/// deviation, because launches hide a smaller one. Two steps double the walk.
constexpr double k_most_walk = 64.0;

struct BaselineRun {
  double at = 0.0;
  double log_value = 0.0;
  /// Variance of the value around the level, in units of the variance of launches.
  double variance = 1.0;
};

bool shows_speed(const TrialRecord& trial) {
  const bool of_baseline =
      trial.purpose == TrialPurpose::baseline || trial.purpose == TrialPurpose::sentinel;
  // A baseline that violates a guard still shows the machine's speed.
  const bool measured =
      trial.status == TrialStatus::completed || trial.status == TrialStatus::infeasible;
  return of_baseline && measured && !is_of_search_round(trial) && !trial.objectives.empty() &&
         !trial.standard_errors.empty() && trial.objectives[0] > 0.0 &&
         std::isfinite(trial.objectives[0]) && std::isfinite(trial.standard_errors[0]);
}

std::vector<BaselineRun> runs_of(const std::vector<TrialRecord>& trials) {
  const LaunchVariation prior;
  std::vector<const TrialRecord*> measured;
  for (const TrialRecord& trial : trials) {
    if (shows_speed(trial)) measured.push_back(&trial);
  }
  std::vector<BaselineRun> runs;
  for (const TrialRecord* trial : without_disturbed(std::move(measured))) {
    const double within = trial->standard_errors[0] / trial->objectives[0] / prior.relative;
    runs.push_back({static_cast<double>(trial->number), std::log(trial->objectives[0]),
                    1.0 + within * within});
  }
  return runs;
}

struct Filtered {
  double level = 0.0;
  double variance = 0.0;
};

/// Result of the Kalman filter over the runs: each level given the runs up to it, and the parts of
/// the likelihood. The level before the first run is unknown.
struct FilterPass {
  std::vector<Filtered> states;
  double squares = 0.0;  ///< sum of squared prediction errors, each divided by its variance
  double log_determinant = 0.0;
};

FilterPass filter(const std::vector<BaselineRun>& runs, double walk_per_trial) {
  FilterPass pass;
  Filtered state{runs.front().log_value, runs.front().variance};
  pass.states.push_back(state);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    state.variance += walk_per_trial * (runs[i].at - runs[i - 1].at);
    const double error = runs[i].log_value - state.level;
    const double error_variance = state.variance + runs[i].variance;
    pass.squares += error * error / error_variance;
    pass.log_determinant += std::log(error_variance);
    const double gain = state.variance / error_variance;
    state.level += gain * error;
    state.variance *= 1.0 - gain;
    pass.states.push_back(state);
  }
  return pass;
}

/// Returns the variance of launches, given the prior and the runs.
double launch_variance(const FilterPass& pass) {
  const LaunchVariation prior;
  const double freedom = prior.degrees_of_freedom + static_cast<double>(pass.states.size()) - 1.0;
  return (prior.degrees_of_freedom * prior.relative * prior.relative + pass.squares) / freedom;
}

/// Returns the logarithm of the likelihood with the variance of launches integrated out: a
/// multivariate Student's t.
double log_likelihood(const FilterPass& pass) {
  const LaunchVariation prior;
  const double freedom = prior.degrees_of_freedom + static_cast<double>(pass.states.size()) - 1.0;
  return -0.5 * pass.log_determinant - 0.5 * freedom * std::log(freedom * launch_variance(pass));
}

/// Returns the variance per trial of the random walk that explains the runs best; nullopt if no
/// walk does so clearly. Its log likelihood must exceed that of launch variation alone by as much
/// as for `k_significant_errors` of a normal value. On quiet machines whose launches differ by up
/// to 1.5 %, fewer than 1 of 1000 sentinels reach this by chance. If launches differ by 3 %, 1 of
/// 30 does.
std::optional<double> best_walk(const std::vector<BaselineRun>& runs) {
  const double span = runs.back().at - runs.front().at;
  const double still = log_likelihood(filter(runs, 0.0));
  double best = still + 0.5 * k_significant_errors * k_significant_errors;
  std::optional<double> chosen;
  for (double walk = 1.0; walk <= k_most_walk; walk *= std::numbers::sqrt2) {
    const double per_trial = walk * walk / span;
    const double likelihood = log_likelihood(filter(runs, per_trial));
    if (likelihood <= best) continue;
    best = likelihood;
    chosen = per_trial;
  }
  return chosen;
}

}  // namespace

MachineDrift::MachineDrift(const std::vector<TrialRecord>& trials) {
  const std::vector<BaselineRun> runs = runs_of(trials);
  runs_ = static_cast<int>(runs.size());
  if (runs.size() < 2) return;
  const auto walk = best_walk(runs);
  if (!walk) return;
  const FilterPass pass = filter(runs, *walk);
  walk_per_trial_ = *walk;
  scale_ = launch_variance(pass);
  launches_ = {pass.squares, runs_ - 1.0};
  // The smoother of H. E. Rauch, F. Tung and C. T. Striebel, AIAA Journal 3(8), 1965.
  points_.resize(runs.size());
  points_.back() = {runs.back().at, pass.states.back().level, pass.states.back().variance, 0.0};
  for (std::size_t i = runs.size() - 1; i-- > 0;) {
    const Filtered& state = pass.states[i];
    const Point& next = points_[i + 1];
    const double predicted = state.variance + walk_per_trial_ * (next.at - runs[i].at);
    const double gain = state.variance / predicted;
    points_[i] = {runs[i].at, state.level + gain * (next.level - state.level),
                  state.variance + gain * gain * (next.variance - predicted), gain * next.variance};
  }
}

MachineLevel MachineDrift::at(std::int64_t number) const {
  if (points_.empty()) return {};
  const auto at = static_cast<double>(number);
  const double reference = points_.front().level;
  const auto after =
      std::ranges::find_if(points_, [&](const Point& point) { return point.at > at; });
  if (after == points_.begin()) return {0.0, std::sqrt(scale_ * points_.front().variance)};
  const Point& before = *std::prev(after);
  if (after == points_.end()) {
    const double variance = before.variance + walk_per_trial_ * (at - before.at);
    return {before.level - reference, std::sqrt(scale_ * variance)};
  }
  // Between two runs a walk is a Brownian bridge.
  const double gap = after->at - before.at;
  const double share = (at - before.at) / gap;
  const double rest = 1.0 - share;
  const double variance = rest * rest * before.variance + share * share * after->variance +
                          2.0 * share * rest * before.covariance_with_next +
                          walk_per_trial_ * gap * share * rest;
  return {rest * before.level + share * after->level - reference, std::sqrt(scale_ * variance)};
}

double MachineDrift::largest_log_ratio() const {
  double largest = 0.0;
  for (const Point& point : points_) {
    const double ratio = point.level - points_.front().level;
    if (std::abs(ratio) > std::abs(largest)) largest = ratio;
  }
  return largest;
}

double without_drift(double value, const MachineLevel& level) {
  return value * std::exp(-level.log_ratio);
}

}  // namespace steptune
