// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "search/searchers/bayes/bayes_outlook.hpp"
#include "search/searchers/bayes/bayes_searcher.hpp"
#include "search/searchers/bayes/going_on.hpp"

namespace steptune::bayes {
namespace {

// Trials of the initial design are not let further than this share of a full one: nobody is there
// yet to compare them with.
constexpr double k_held = 1.0 / 9.0;
constexpr double k_stage_ratio = 2.0;
constexpr double k_almost_full = 0.75;
// How much more another trial must promise, in logarithms, than one that is nearly full; over the
// square root of the fidelity before: the earlier a value, the more its forecast errs beyond what
// it claims, and what is stopped has its way to pay again.
constexpr double k_patience = 0.35;

// Standard deviations of all values, beyond which no model has anything to say of one.
constexpr double k_beyond_all = 1e3;

constexpr double k_never = -std::numeric_limits<double>::infinity();

}  // namespace

Matrix BayesSearcher::Outlook::row_of(const Point& point, double fidelity) const {
  Matrix row(1, feature_map.width());
  feature_map.write(point, row.row(0), fidelity);
  return row;
}

Normal BayesSearcher::Outlook::translated(const Model& model, const Normal& target) const {
  const OutputTransform& from = model.transform;
  if (from.warp() == transform().warp()) return target;
  const double value = from.backward(target.mean);
  // Where a value is no positive number there is no logarithm of it: the nearest there is.
  const double least = 1e-12 * std::abs(transform().backward(0.0));
  const double sound = transform().warp() == Warp::log ? std::max(value, least) : value;
  const double from_slope = from.warp() == Warp::log ? value : 1.0;
  const double to_slope = transform().warp() == Warp::log ? sound : 1.0;
  const double factor = from.scale() * from_slope / (transform().scale() * to_slope);
  return {transform().forward(sound), std::max(target.variance * factor * factor, 1e-12)};
}

std::vector<Normal> BayesSearcher::Outlook::full(std::span<const Point> points) const {
  const Matrix rows = feature_map.rows(points);
  std::vector<double> means(points.size());
  std::vector<double> squares(points.size());
  for (const Model& model : models) {
    const Posterior posterior = model.process.predict(rows);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Normal each = translated(model, {posterior.means[i], posterior.variances[i]});
      means[i] += model.weight * each.mean;
      squares[i] += model.weight * (each.variance + each.mean * each.mean);
    }
  }
  std::vector<Normal> result;
  for (std::size_t i = 0; i < points.size(); ++i)
    result.push_back({means[i], std::max(squares[i] - means[i] * means[i], 1e-12)});
  return result;
}

bool BayesSearcher::Outlook::learn(const Point& point, const WayPoint& at) {
  const bool within = std::all_of(models.begin(), models.end(), [&](const Model& model) {
    return std::abs(model.transform.forward(at.value)) < k_beyond_all;
  });
  if (!within) return false;
  for (Model& model : models) {
    model.process.append({row_of(point, at.fidelity),
                          {model.transform.forward(at.value)},
                          {model.transform.noise_variance(at.value, at.standard_error)}});
  }
  return true;
}

double BayesSearcher::Outlook::log_rate(const Point& point, double reached, double paid) const {
  const Normal now = full(point);
  std::vector<Stage> stages;
  double before = now.variance;
  double price_from = paid;
  const auto add = [&](double fidelity, double variance) {
    variance = std::min(variance, before * (1.0 - 1e-6));
    stages.push_back({fidelity - price_from, variance});
    before = variance;
    price_from = fidelity;
  };
  // What a trial comes to as expected leaves means as they are, and variances do not depend on it.
  Outlook then = *this;
  double fidelity = reached > 0.0 ? reached * k_stage_ratio : least_fidelity;
  for (; fidelity < k_almost_full; fidelity *= k_stage_ratio) {
    const Matrix row = row_of(point, fidelity);
    for (Model& model : then.models)
      model.process.append({row, model.process.predict(row).means, {0.0}});
    add(fidelity, then.full(point).variance);
  }
  add(1.0, 0.0);
  return log_improvement_rate(now, best, stages);
}

std::optional<BayesSearcher::Outlook> BayesSearcher::outlook() {
  if (!learns_ways()) return std::nullopt;
  Outlook result(feature_map_);
  result.least_fidelity = least_fidelity_;
  std::vector<double> targets;
  for (ObjectiveModel& model :
       objectives_[0].models(Matrix(feature_map_.width()), most_beliefs())) {
    // Earlier studies have no trials under way to go on from.
    if (model.plain() == nullptr) return std::nullopt;
    const double weight = model.weight();
    if (result.models.empty()) targets = objectives_[0].targets(model);
    result.models.push_back(std::move(model).take_plain());
    result.models.back().weight = weight;
  }
  result.best = std::numeric_limits<double>::infinity();
  for (const Measured& measured : measured_) {
    if (measured.winner) result.best = std::min(result.best, targets[measured.row]);
  }
  if (std::isfinite(result.best)) return result;
  std::vector<Point> stopped;
  for (const Measured& measured : measured_) {
    if (is_open(measured)) stopped.push_back(measured.point);
  }
  for (const Normal& full : result.full(stopped))
    result.best = std::min(result.best, full.mean);
  return std::isfinite(result.best) ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<BayesSearcher::Prospect> BayesSearcher::best_repetition(
    const Outlook& outlook, const std::function<bool(std::span<const double>)>& admissible) const {
  std::vector<Point> points;
  std::vector<double> fidelities;
  for (const Measured& measured : measured_) {
    if (!is_open(measured) || !admissible(measured.point)) continue;
    points.push_back(measured.point);
    fidelities.push_back(measured.fidelity);
  }
  const std::vector<Normal> full = outlook.full(points);
  std::optional<Prospect> best;
  for (std::size_t i = 0; i < points.size(); ++i) {
    // No rule of stopping attains more than all of the gain for the price of the next stage.
    const double log_gain = log_expected_improvement(full[i], outlook.best);
    const double next = std::min(1.0, k_stage_ratio * fidelities[i]);
    if (best && log_gain - std::log(next) <= best->log_rate) continue;
    const double rate = outlook.log_rate(points[i], fidelities[i], 0.0);
    if (!best || rate > best->log_rate) best = Prospect{points[i], rate};
  }
  return best;
}

std::optional<Advice> BayesSearcher::advise(const TrialProgress& progress) {
  if (objectives_.size() != 1 || progress.milestones.empty()) return std::nullopt;
  const auto encoded = encode(progress.configuration);
  if (!encoded) return std::nullopt;
  const Point& point = *encoded;
  const double reached = progress.milestones.back().fidelity;
  double reached_before = 0.0;
  for (const Measured& measured : measured_) {
    if (is_open(measured) && measured.point == point) {
      reached_before = std::max(reached_before, measured.fidelity);
    }
  }
  if (reached_before >= reached) return Advice{};
  if (needs_initial_point(0)) {
    const bool any_complete = std::any_of(measured_.begin(), measured_.end(),
                                          [](const Measured& measured) { return measured.winner; });
    if (any_complete) return std::nullopt;
    if (reached < k_held) return Advice{};
    return Advice{false, fmt::format("held at {:.2g} of a full trial: none goes on before {} have "
                                     "been looked at",
                                     reached, wanted_initial_points())};
  }
  auto outlook = this->outlook();
  if (!outlook) return std::nullopt;
  for (const WayPoint& at : way_of(progress.milestones)) {
    if (at.fidelity > reached_before && !outlook->learn(point, at)) return std::nullopt;
  }
  const double own = outlook->log_rate(point, reached, reached);

  // The price of going on is worth paying where no other trial promises clearly more for it.
  const auto other = [&](std::span<const double> candidate) {
    return !std::equal(candidate.begin(), candidate.end(), point.begin(), point.end());
  };
  double rival = k_never;
  if (const auto repetition = best_repetition(*outlook, other)) rival = repetition->log_rate;
  if (const auto fresh = best_new_point([&](std::span<const double> candidate) {
        return !seen_.contains(candidate) && other(candidate) && !memory_rule_.excludes(candidate);
      })) {
    rival = std::max(rival, outlook->log_rate(*fresh, 0.0, 0.0));
  }
  if (own >= rival - k_patience / std::sqrt(reached)) return Advice{};
  return Advice{
      false,
      fmt::format("at {:.2g} of a full trial: expected to end at {:.4g}, another trial promises "
                  "{:.2g} times the gain for its price",
                  reached, outlook->transform().backward(outlook->full(point).mean),
                  std::exp(std::min(rival - own, 20.0)))};
}

}  // namespace steptune::bayes
