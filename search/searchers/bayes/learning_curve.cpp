// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/learning_curve.hpp"

#include <algorithm>
#include <cmath>

#include "search/searchers/bayes/normal.hpp"
#include "search/searchers/bayes/stopping_rate.hpp"

namespace steptune::bayes {
namespace {

// Factor on standard errors of earlier milestones, because later milestones include their
// measurements.
constexpr double k_shared_errors = 2.0;
// Fidelity from which on no further stage is planned before the end.
constexpr double k_almost_full = 0.75;
// No model can represent a value this many standard deviations away from the mean of the others.
constexpr double k_beyond_all = 1e3;

}  // namespace

std::vector<CurvePoint> learning_curve_of(std::span<const Milestone> milestones) {
  std::vector<CurvePoint> way;
  for (const Milestone& milestone : milestones) {
    const bool rises = way.empty() || milestone.fidelity > way.back().fidelity;
    if (!rises || milestone.values.empty() || !std::isfinite(milestone.values[0])) continue;
    if (!way.empty()) way.back().standard_error *= k_shared_errors;
    const double error = milestone.standard_errors.empty() ? 0.0 : milestone.standard_errors[0];
    way.push_back({milestone.fidelity, milestone.values[0], error});
  }
  return way;
}

LearningCurveModel::LearningCurveModel(const FeatureMap& feature_map, std::vector<Model> models,
                                       double least_fidelity)
    : feature_map_(&feature_map), models_(std::move(models)), least_fidelity_(least_fidelity) {}

Matrix LearningCurveModel::row_of(const Point& point, double fidelity) const {
  Matrix row(1, feature_map_->width());
  feature_map_->write(point, row.row(0), fidelity);
  return row;
}

Normal LearningCurveModel::translated(const Model& model, const Normal& target) const {
  const OutputTransform& from = model.transform;
  if (from.warp() == transform().warp()) return target;
  const double value = from.backward(target.mean);
  // A value that is not positive has no logarithm: use a tiny positive value instead.
  const double least = 1e-12 * std::abs(transform().backward(0.0));
  const double sound = transform().warp() == Warp::log ? std::max(value, least) : value;
  const double from_slope = from.warp() == Warp::log ? value : 1.0;
  const double to_slope = transform().warp() == Warp::log ? sound : 1.0;
  const double factor = from.scale() * from_slope / (transform().scale() * to_slope);
  return {transform().forward(sound),
          std::max(target.variance * factor * factor, k_least_variance)};
}

std::vector<Normal> LearningCurveModel::full(std::span<const Point> points) const {
  const Matrix rows = feature_map_->rows(points);
  std::vector<double> means(points.size());
  std::vector<double> squares(points.size());
  for (const Model& model : models_) {
    const Posterior posterior = model.process.predict(rows);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Normal each = translated(model, {posterior.means[i], posterior.variances[i]});
      means[i] += model.weight * each.mean;
      squares[i] += model.weight * (each.variance + each.mean * each.mean);
    }
  }
  // Mean and variance of the mixture.
  std::vector<Normal> result;
  for (std::size_t i = 0; i < points.size(); ++i)
    result.push_back({means[i], std::max(squares[i] - means[i] * means[i], k_least_variance)});
  return result;
}

bool LearningCurveModel::learn(const Point& point, const CurvePoint& at) {
  const bool within = std::ranges::all_of(models_, [&](const Model& model) {
    return std::abs(model.transform.forward(at.value)) < k_beyond_all;
  });
  if (!within) return false;
  for (Model& model : models_) {
    model.process.append({row_of(point, at.fidelity),
                          {model.transform.forward(at.value)},
                          {model.transform.noise_variance(at.value, at.standard_error)}});
  }
  return true;
}

double LearningCurveModel::log_stopping_rate(const Point& point, double best, double reached,
                                             double paid) const {
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
  // Let the models learn the expected value of each stage. This does not change means, and
  // variances do not depend on values.
  LearningCurveModel then = *this;
  double fidelity = reached > 0.0 ? reached * k_milestone_ratio : least_fidelity_;
  for (; fidelity < k_almost_full; fidelity *= k_milestone_ratio) {
    const Matrix row = row_of(point, fidelity);
    for (Model& model : then.models_)
      model.process.append({row, model.process.predict(row).means, {0.0}});
    add(fidelity, then.full(point).variance);
  }
  add(1.0, 0.0);
  return steptune::bayes::log_stopping_rate(now, best, stages);
}

}  // namespace steptune::bayes
