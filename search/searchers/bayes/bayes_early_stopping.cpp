// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "search/searchers/bayes/bayes_searcher.hpp"
#include "search/searchers/bayes/learning_curve.hpp"

namespace steptune::bayes {
namespace {

// Trials of the initial design are stopped at this share of a full trial. There is no complete
// trial yet to compare them with.
constexpr double k_initial_fidelity = 1.0 / 9.0;
// A trial is stopped only if another candidate's log gain per price is clearly higher. The
// necessary difference is this number divided by the square root of the trial's fidelity so far.
// Two reasons: forecasts from early values err more than predicted, and a restarted trial pays for
// its first part again.
constexpr double k_patience = 0.35;

}  // namespace

bool BayesSearcher::is_open(const Measured& measured) const {
  return measured.partial && !finished_.contains(measured.point);
}

bool BayesSearcher::learns_curves() const {
  return objectives_.size() == 1 &&
         std::ranges::any_of(measured_, [](const Measured& measured) { return measured.partial; });
}

void BayesSearcher::learn_curves() {
  if (!learns_curves()) return;
  std::vector<double> row(feature_map_.width());
  for (Measured& measured : measured_) {
    // Ignore the fidelity of a trial that a violated guard ended: early stopping does not end
    // trials at such fidelities.
    if (measured.partial) least_fidelity_ = std::min(least_fidelity_, measured.fidelity);
    for (const CurvePoint& at : measured.curve) {
      least_fidelity_ = std::min(least_fidelity_, at.fidelity);
      feature_map_.write(measured.point, row, at.fidelity);
      objectives_[0].add(row, at.value, at.standard_error);
    }
    measured.curve.clear();
  }
}

std::optional<BayesSearcher::StoppingModel> BayesSearcher::stopping_model() {
  if (!learns_curves()) return std::nullopt;
  std::vector<Model> models;
  std::vector<double> targets;
  for (ObjectiveModel& model : objectives_[0].models(Matrix(feature_map_.width()), most_models())) {
    // A model that uses an earlier study cannot predict the final values of running trials.
    if (model.plain() == nullptr) return std::nullopt;
    const double weight = model.weight();
    if (models.empty()) targets = objectives_[0].targets(model);
    models.push_back(std::move(model).take_plain());
    models.back().weight = weight;
  }
  StoppingModel result{LearningCurveModel(feature_map_, std::move(models), least_fidelity_),
                       k_infinity};
  for (const Measured& measured : measured_) {
    if (measured.winner) result.best = std::min(result.best, targets[measured.row]);
  }
  if (std::isfinite(result.best)) return result;
  std::vector<Point> stopped;
  for (const Measured& measured : measured_) {
    if (is_open(measured)) stopped.push_back(measured.point);
  }
  for (const Normal& full : result.curves.full(stopped))
    result.best = std::min(result.best, full.mean);
  return std::isfinite(result.best) ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<BayesSearcher::Restart> BayesSearcher::best_restart(
    const StoppingModel& model,
    const std::function<bool(std::span<const double>)>& admissible) const {
  std::vector<Point> points;
  std::vector<double> fidelities;
  for (const Measured& measured : measured_) {
    if (!is_open(measured) || !admissible(measured.point)) continue;
    points.push_back(measured.point);
    fidelities.push_back(measured.fidelity);
  }
  const std::vector<Normal> full = model.curves.full(points);
  std::optional<Restart> best;
  for (std::size_t i = 0; i < points.size(); ++i) {
    // Upper bound of the rate: the whole gain divided by the price of the next stage alone.
    const double log_gain = log_expected_improvement(full[i], model.best);
    const double next = std::min(1.0, k_milestone_ratio * fidelities[i]);
    if (best && log_gain - std::log(next) <= best->log_rate) continue;
    const double rate = model.log_rate(points[i], fidelities[i], 0.0);
    if (!best || rate > best->log_rate) best = Restart{points[i], rate};
  }
  return best;
}

std::optional<StopDecision> BayesSearcher::should_stop(const Configuration& configuration,
                                                       std::span<const Milestone> milestones) {
  if (objectives_.size() != 1 || milestones.empty()) return std::nullopt;
  const auto encoded = encode(configuration);
  if (!encoded) return std::nullopt;
  const Point& point = *encoded;
  const double reached = milestones.back().fidelity;
  double reached_before = 0.0;
  for (const Measured& measured : measured_) {
    if (is_open(measured) && measured.point == point) {
      reached_before = std::max(reached_before, measured.fidelity);
    }
  }
  if (reached_before >= reached) return StopDecision{};
  if (needs_initial_point(0)) {
    const bool any_complete =
        std::ranges::any_of(measured_, [](const Measured& measured) { return measured.winner; });
    if (any_complete) return std::nullopt;
    if (reached < k_initial_fidelity) return StopDecision{};
    return StopDecision{true,
                        fmt::format("at {:.2g} % of its length: no trial runs longer before {} "
                                    "configurations have been compared",
                                    100.0 * reached, wanted_initial_points())};
  }
  auto model = stopping_model();
  if (!model) return std::nullopt;
  for (const CurvePoint& at : learning_curve_of(milestones)) {
    if (at.fidelity > reached_before && !model->curves.learn(point, at)) return std::nullopt;
  }
  const double own = model->log_rate(point, reached, reached);

  // Let the trial continue unless another trial promises clearly more gain for its price. This is
  // the ratio form of the Gittins index of Pandora's box (Xie et al. 2024).
  const auto other = [&](std::span<const double> candidate) {
    return !std::equal(candidate.begin(), candidate.end(), point.begin(), point.end());
  };
  double rival = -k_infinity;
  if (const auto restart = best_restart(*model, other)) rival = restart->log_rate;
  if (const auto fresh = best_new_point([&](std::span<const double> candidate) {
        return !seen_.contains(candidate) && other(candidate) && !memory_rule_.excludes(candidate);
      })) {
    rival = std::max(rival, model->log_rate(*fresh, 0.0, 0.0));
  }
  if (own >= rival - k_patience / std::sqrt(reached)) return StopDecision{};
  const double times = std::exp(std::min(rival - own, 20.0));
  return StopDecision{
      true,
      fmt::format("at {:.2g} % of its length: another configuration is expected to gain {} times "
                  "as much per cost",
                  100.0 * reached,
                  times > 100.0 ? std::string("over 100") : fmt::format("{:.2g}", times))};
}

}  // namespace steptune::bayes
