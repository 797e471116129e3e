// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/acquisition.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "common/numbers.hpp"
#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

// In this file, a candidate is "unlikely" if its probability of being feasible is below the
// threshold, otherwise "likely". A "gain" is an expected improvement. Scores, and names with `log`,
// are natural logarithms.

// Unless risks are taken, an unlikely candidate's score is at most minus this, far below the scores
// of likely candidates.
constexpr double k_below_threshold = 1e6;

// The gain is multiplied by the probability of feasibility to this power. Power 1 would give the
// expected gain if the probabilities were right. But some predicted probabilities are too high, and
// the candidate with the highest product is often one of these. A higher power compensates for
// that.
constexpr double k_caution = 3.0;

// If risks are taken, an unlikely candidate ranks among the likely ones, with a score reduced by
// `k_risk`. Its score before that must exceed `k_worth_a_failure`, the logarithm of a millionth of
// the best value.
constexpr double k_risk = 3.0;
constexpr double k_worth_a_failure = -13.8;

// Number of points of the Pareto front from which upper bounds are computed.
constexpr std::size_t k_thinned_front = 5;

/// Returns the score of an unlikely candidate. A less likely candidate has a lower score.
double unlikely_score(double log_threshold, double log_feasibility) {
  return -k_below_threshold * (1.0 + std::min(log_threshold - log_feasibility, 1e6));
}

/// Returns the highest score that a candidate of this gain can have, whatever its feasibility.
double highest_score(double log_gain) {
  return std::max(log_gain, -k_below_threshold);
}

Matrix rows_at(const Matrix& features, std::size_t first, std::span<const std::size_t> places) {
  Matrix rows(features.cols());
  rows.reserve_rows(places.size());
  for (const std::size_t place : places)
    rows.append_row(features.row(first + place));
  return rows;
}

Normal at(const Posterior& posterior, std::size_t i) {
  return {posterior.means[i], posterior.variances[i]};
}

}  // namespace

Acquisition::Acquisition(Inputs inputs) : inputs_(std::move(inputs)) {
  if (inputs_.ensemble.empty() || inputs_.ensemble[0].feasible_targets[0].empty()) return;
  for (const EnsembleMember& member : inputs_.ensemble)
    goals_.push_back(goal_of(member));
}

Acquisition::Goal Acquisition::goal_of(const EnsembleMember& member) {
  Goal goal;
  goal.log_factor = std::log(member.weight);
  const auto& targets = member.feasible_targets;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    // Members may use different transforms, so their targets have different units. Convert each
    // unit to a share of the best value, which is comparable. With a logarithmic transform, the
    // unit is such a share already.
    const OutputTransform& transform = member.objectives[k].transform();
    double unit = transform.scale();
    if (transform.warp() == Warp::none) {
      const double value =
          std::abs(transform.backward(*std::min_element(targets[k].begin(), targets[k].end())));
      if (value > 1e-9 * unit) unit /= value;
    }
    goal.log_factor += std::log(unit);
  }
  if (targets.size() < 2) {
    goal.best = *std::min_element(targets[0].begin(), targets[0].end());
    return goal;
  }
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < targets[0].size(); ++i)
    pairs.push_back({targets[0][i], targets[1][i]});
  const auto front = pareto_front(pairs);
  const Pair reference = reference_point(front, pairs);
  goal.dominated_area = dominated_area(front, reference);
  goal.hypervolume.emplace(front, reference);
  goal.thinned = goal.hypervolume->thinned(k_thinned_front);
  return goal;
}

std::vector<double> Acquisition::log_feasibilities(const Matrix& features, std::size_t first,
                                                   std::size_t last) const {
  std::vector<double> result(last - first, 0.0);
  if (inputs_.feasibility) result = inputs_.feasibility->log_probabilities(features, first, last);
  if (!inputs_.memory) return result;
  const auto fits = inputs_.memory->log_probabilities(features, first, last);
  std::transform(result.begin(), result.end(), fits.begin(), result.begin(), std::plus<>());
  return result;
}

std::vector<double> Acquisition::log_gains(const Matrix& features, std::size_t first,
                                           std::size_t last, Variances variances) const {
  std::vector<double> gains(last - first, -k_infinity);
  for (std::size_t w = 0; w < goals_.size(); ++w) {
    const auto& objectives = inputs_.ensemble[w].objectives;
    const Goal& goal = goals_[w];
    const auto& area = variances == Variances::bounded ? goal.thinned : goal.hypervolume;
    if (!area) {
      const Posterior posterior = objectives[0].predict(features, first, last, variances);
      for (std::size_t i = 0; i < gains.size(); ++i) {
        const double gain = log_expected_improvement(at(posterior, i), goal.best);
        gains[i] = log_sum(gains[i], gain + goal.log_factor);
      }
      continue;
    }
    const Posterior one = objectives[0].predict(features, first, last, variances);
    const Posterior two = objectives[1].predict(features, first, last, variances);
    for (std::size_t i = 0; i < gains.size(); ++i) {
      const double gain = area->log_expected(at(one, i), at(two, i));
      gains[i] = log_sum(gains[i], gain + goal.log_factor);
    }
  }
  return gains;
}

void Acquisition::score(const Matrix& features, std::size_t first, std::size_t last,
                        std::span<const double> floors, std::span<double> scores) const {
  if (goals_.empty()) {
    const auto feasibilities = log_feasibilities(features, first, last);
    std::copy(feasibilities.begin(), feasibilities.end(), scores.begin());
    return;
  }
  const std::vector<double> gains = log_gains(features, first, last, Variances::exact);
  std::vector<std::size_t> undecided(last - first);
  std::iota(undecided.begin(), undecided.end(), std::size_t{0});
  if (!floors.empty()) {
    std::erase_if(undecided, [&](std::size_t i) { return !(highest_score(gains[i]) > floors[i]); });
    if (inputs_.feasibility) {
      const auto log_bounds = inputs_.feasibility->log_probability_bounds(
          rows_at(features, first, undecided), 0, undecided.size());
      std::size_t k = 0;
      std::erase_if(undecided, [&](std::size_t i) {
        return !(score_of(gains[i], log_bounds[k++]) > floors[i]);
      });
    }
  }
  const auto feasibilities =
      log_feasibilities(rows_at(features, first, undecided), 0, undecided.size());
  std::fill(scores.begin(), scores.end(), -k_infinity);
  for (std::size_t k = 0; k < undecided.size(); ++k)
    scores[undecided[k]] = score_of(gains[undecided[k]], feasibilities[k]);
}

double Acquisition::score_of(double log_gain, double log_feasibility) const {
  // log(EI P^3): the improvement times the cubed probability of feasibility (Gardner et al. 2014,
  // who do not cube it).
  const double threshold = std::log(inputs_.feasibility_threshold);
  const double cautious = k_caution * log_feasibility + log_gain;
  if (log_feasibility >= threshold) return cautious;
  if (inputs_.takes_risks && cautious > k_worth_a_failure) return cautious - k_risk;
  return unlikely_score(threshold, log_feasibility);
}

bool Acquisition::has_cheap_bounds() const {
  if (goals_.empty()) return false;
  // Bounds ignore feasibility and memory, so they are cheaper if scores need one of these. With two
  // objectives, the models of both learn from the same trials, so checking the first is enough.
  return inputs_.feasibility || inputs_.memory ||
         std::ranges::any_of(inputs_.ensemble, [](const EnsembleMember& member) {
           return member.objectives[0].has_cheap_bounds();
         });
}

void Acquisition::bound(const Matrix& features, std::size_t first, std::size_t last,
                        std::span<double> bounds) const {
  // The improvement (of the minimum, or of the dominated area) is a convex function of each
  // objective. So its expectation grows with the variances, and their upper bounds give a bound.
  const std::vector<double> gains = log_gains(features, first, last, Variances::bounded);
  std::transform(gains.begin(), gains.end(), bounds.begin(), highest_score);
}

std::optional<double> Acquisition::improvement_share(const Matrix& features,
                                                     std::size_t row) const {
  if (goals_.empty()) return std::nullopt;
  double share = 0.0;
  for (std::size_t w = 0; w < goals_.size(); ++w) {
    const EnsembleMember& member = inputs_.ensemble[w];
    const Goal& goal = goals_[w];
    const Normal one = at(member.objectives[0].predict(features, row, row + 1), 0);
    if (!goal.hypervolume) {
      const OutputTransform& transform = member.objectives[0].transform();
      share += member.weight * transform.improvement_share(goal.best, one.mean, one.variance);
      continue;
    }
    const Normal two = at(member.objectives[1].predict(features, row, row + 1), 0);
    const double gain = std::exp(goal.hypervolume->log_expected(one, two));
    // If the dominated area is 0, any positive gain counts as a large one.
    share += gain > 0.0 ? member.weight * std::min(gain / goal.dominated_area, 1e6) : 0.0;
  }
  return std::exp(log_feasibilities(features, row, row + 1)[0]) * share;
}

}  // namespace steptune::bayes
