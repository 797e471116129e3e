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
constexpr std::size_t k_beliefs = 3;

Normal both(const Normal& a, const Normal& b) {
  const double variance = 1.0 / (1.0 / a.variance + 1.0 / b.variance);
  return {variance * (a.mean / a.variance + b.mean / b.variance), variance};
}

}  // namespace

Normal BayesSearcher::Outlook::from_others(const Courses::Course* course,
                                           const Matrix& features) const {
  if (course != nullptr && course->row < others.means.size()) {
    return {others.means[course->row],
            std::max(others.variances[course->row] - noise[course->row], 1e-9)};
  }
  std::vector<Normal> each;
  for (const Model& model : models) {
    const Posterior posterior = model.process.predict(features, 0, 1);
    each.push_back(translated(model, {posterior.means[0], posterior.variances[0]}));
  }
  return mixture(each);
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

Normal BayesSearcher::Outlook::mixture(const std::vector<Normal>& each) const {
  double mean = 0.0;
  double square = 0.0;
  for (std::size_t k = 0; k < each.size(); ++k) {
    mean += models[k].weight * each[k].mean;
    square += models[k].weight * (each[k].variance + each[k].mean * each[k].mean);
  }
  return {mean, std::max(square - mean * mean, 1e-12)};
}

std::optional<Normal> BayesSearcher::Outlook::from_itself(const Courses& courses,
                                                          const CoursePoint& now) const {
  const auto full = courses.full(now);
  if (!full) return std::nullopt;
  return Normal{transform().forward(full->value),
                std::max(transform().noise_variance(full->value, full->standard_error), 1e-9)};
}

std::optional<double> BayesSearcher::Outlook::log_rate(const Courses& courses, const Normal& prior,
                                                       const Normal& now, double reached,
                                                       double paid, double value) const {
  std::vector<Stage> stages;
  double before = now.variance;
  double price_from = paid;
  const auto add = [&](double fidelity, double variance) {
    variance = std::min(variance, before * (1.0 - 1e-6));
    stages.push_back({fidelity - price_from, variance});
    before = variance;
    price_from = fidelity;
  };
  double fidelity = reached > 0.0 ? reached * k_stage_ratio : courses.least_fidelity();
  while (fidelity < k_almost_full) {
    const auto then = from_itself(courses, {fidelity, value, 0.0});
    if (!then) return std::nullopt;
    add(fidelity, both(prior, *then).variance);
    fidelity *= k_stage_ratio;
  }
  add(1.0, 0.0);
  return log_improvement_rate(now, best, stages);
}

std::optional<BayesSearcher::Outlook> BayesSearcher::outlook() {
  if (objectives_.size() != 1 || measured_.empty() || !objectives_[0].revisable()) {
    return std::nullopt;
  }
  const auto& courses = courses_.all();
  const bool any_stopped = std::any_of(courses.begin(), courses.end(),
                                       [](const Courses::Course& course) { return !course.full; });
  if (!any_stopped) return std::nullopt;
  Outlook result;
  std::vector<double> targets;
  for (ObjectiveModel& model : objectives_[0].models(Matrix(feature_map_.width()), k_beliefs)) {
    // Parts of a step and earlier studies have no way of their own to go on from.
    if (model.plain() == nullptr) return std::nullopt;
    const double weight = model.weight();
    if (result.models.empty()) targets = objectives_[0].targets(model);
    result.models.push_back(std::move(model).take_plain());
    result.models.back().weight = weight;
  }
  result.best = std::numeric_limits<double>::infinity();
  const bool all_rows = measured_.size() <= Learner::k_model_limit;
  if (all_rows) {
    std::vector<Posterior> others;
    for (const Model& model : result.models)
      others.push_back(model.process.leave_one_out().posterior);
    for (std::size_t row = 0; row < measured_.size(); ++row) {
      std::vector<Normal> each;
      for (std::size_t k = 0; k < others.size(); ++k) {
        each.push_back(
            result.translated(result.models[k], {others[k].means[row], others[k].variances[row]}));
      }
      const Normal all = result.mixture(each);
      result.others.means.push_back(all.mean);
      result.others.variances.push_back(all.variance);
    }
    result.noise.assign(measured_.size(), 0.0);
  }
  for (const Measured& measured : measured_) {
    if (measured.winner) result.best = std::min(result.best, targets[measured.row]);
  }
  const bool complete = std::isfinite(result.best);
  for (const Courses::Course& course : courses) {
    if (!course.open()) continue;
    const auto itself = result.from_itself(courses_, course.way.back());
    if (!itself) return std::nullopt;
    if (!all_rows) continue;
    result.noise[course.row] = itself->variance;
    if (complete) continue;
    const Normal other = result.from_others(&course, {});
    result.best = std::min(result.best, both(other, *itself).mean);
  }
  if (!std::isfinite(result.best)) return std::nullopt;
  return result;
}

std::optional<BayesSearcher::Prospect> BayesSearcher::best_repetition(
    const Outlook& outlook, const std::function<bool(std::span<const double>)>& admissible) const {
  std::optional<Prospect> best;
  if (outlook.noise.empty()) return best;
  for (const Courses::Course& course : courses_.all()) {
    if (!course.open() || !admissible(course.point)) continue;
    const CoursePoint& now = course.way.back();
    const auto itself = outlook.from_itself(courses_, now);
    if (!itself) continue;
    const Normal prior = outlook.from_others(&course, {});
    const auto rate =
        outlook.log_rate(courses_, prior, both(prior, *itself), now.fidelity, 0.0, now.value);
    if (rate && (!best || *rate > best->log_rate)) best = Prospect{course.point, *rate};
  }
  return best;
}

double BayesSearcher::new_log_rate(const Outlook& outlook, const Point& point) const {
  const Normal prior = outlook.from_others(nullptr, feature_map_.rows(point));
  const double value = outlook.transform().backward(prior.mean);
  return outlook.log_rate(courses_, prior, prior, 0.0, 0.0, value)
      .value_or(-std::numeric_limits<double>::infinity());
}

std::optional<FullValue> BayesSearcher::learn_course(const Observation& observation,
                                                     const Point& point) {
  const bool stopped = observation.kind == ObservationKind::partial;
  // What a violated guard cut short says nothing of how values go on.
  if (objectives_.size() != 1 || (!stopped && observation.kind != ObservationKind::complete)) {
    return std::nullopt;
  }
  courses_.add(point, measured_.size(), observation);
  if (!objectives_[0].revisable()) return std::nullopt;
  std::vector<double> row(feature_map_.width());
  for (const Courses::Course& course : courses_.all()) {
    if (course.full || course.row == measured_.size()) continue;
    const auto full = courses_.full(course);
    if (!full) continue;
    feature_map_.write(course.point, row);
    objectives_[0].revise(course.row, row, full->value, full->standard_error);
  }
  const Courses::Course& latest = courses_.all().back();
  return latest.full ? std::nullopt : courses_.full(latest);
}

std::optional<Advice> BayesSearcher::advise(const TrialProgress& progress) {
  if (objectives_.size() != 1 || progress.milestones.empty()) return std::nullopt;
  const auto encoded = encode(progress.configuration);
  if (!encoded) return std::nullopt;
  const Point& point = *encoded;
  const CoursePoint now = to_course_point(progress.milestones.back());
  const Courses::Course* former = nullptr;
  for (const Courses::Course& course : courses_.all()) {
    if (course.open() && course.point == point) former = &course;
  }
  if (former != nullptr && former->way.back().fidelity >= now.fidelity) return Advice{};
  if (needs_initial_point(0)) {
    const bool any_complete = std::any_of(measured_.begin(), measured_.end(),
                                          [](const Measured& measured) { return measured.winner; });
    if (any_complete) return std::nullopt;
    if (now.fidelity < k_held) return Advice{};
    return Advice{false, fmt::format("held at {:.2g} of a full trial: none goes on before {} have "
                                     "been looked at",
                                     now.fidelity, wanted_initial_points())};
  }
  const auto outlook = this->outlook();
  if (!outlook) return std::nullopt;
  const auto itself = outlook->from_itself(courses_, now);
  if (!itself) return std::nullopt;
  const Normal prior = outlook->from_others(former, feature_map_.rows(point));
  const Normal full = both(prior, *itself);
  const auto own = outlook->log_rate(courses_, prior, full, now.fidelity, now.fidelity, now.value);
  if (!own) return std::nullopt;

  // The price of going on is worth paying where no other trial promises clearly more for it.
  const auto other = [&](std::span<const double> candidate) {
    return !std::equal(candidate.begin(), candidate.end(), point.begin(), point.end());
  };
  double rival = -std::numeric_limits<double>::infinity();
  if (const auto repetition = best_repetition(*outlook, other)) rival = repetition->log_rate;
  if (const auto fresh = best_new_point([&](std::span<const double> candidate) {
        return !seen_.contains(candidate) && other(candidate) && !memory_rule_.excludes(candidate);
      })) {
    rival = std::max(rival, new_log_rate(*outlook, *fresh));
  }
  if (*own >= rival - k_patience / std::sqrt(now.fidelity)) return Advice{};
  return Advice{false,
                fmt::format("at {:.2g} of a full trial: expected to end at {:.4g}, another trial "
                            "promises {:.2g} times the gain for its price",
                            now.fidelity, outlook->transform().backward(full.mean),
                            std::exp(std::min(rival - *own, 20.0)))};
}

}  // namespace steptune::bayes
