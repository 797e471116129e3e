// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/objective_learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/searchers/bayes/acquisition.hpp"
#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

// Fewer trials than this do not tell one structure from another.
constexpr std::size_t k_fewest_for_parts = 4;
// From here on the whole is known well enough, and the parts cost more than they tell.
constexpr std::size_t k_most_for_parts = 200;

// Of the standard deviations of parts. A power law that is not known yet may promise anything far
// from all trials: taken at its word, many trials went where everything is several times slower.
constexpr double k_spread = 0.5;

// Beyond these no time is one, and sums and ratios of them may leave the numbers.
constexpr double k_shortest = 1e-100;
constexpr double k_longest = 1e100;

constexpr double k_smallest_variance = 1e-12;

/// Targets of `transform` in place of what `shifted` predicts of the remainder.
Posterior on_top_of_earlier(const ShiftedModel& shifted, const OutputTransform& transform,
                            const Matrix& features, std::size_t first, std::size_t last) {
  Posterior posterior = shifted.remainder.process.predict(features, first, last);
  const auto expected = shifted.earlier->expectations(features, first, last);
  const OutputTransform& own = shifted.remainder.transform;
  // Squares of scales may underflow where their ratio does not.
  const double ratio = own.scale() / transform.scale();
  for (std::size_t i = 0; i < posterior.means.size(); ++i) {
    const double offset = (expected[i] + own.centre() - transform.centre()) / transform.scale();
    posterior.means[i] = offset + ratio * posterior.means[i];
    posterior.variances[i] = std::max(ratio * ratio * posterior.variances[i], k_smallest_variance);
  }
  return posterior;
}

/// The likeliest first, weights adding up to 1.
void settle(std::vector<ObjectiveModel>& models) {
  std::stable_sort(models.begin(), models.end(),
                   [](const auto& a, const auto& b) { return a.weight() > b.weight(); });
  double sum = 0.0;
  for (const ObjectiveModel& model : models)
    sum += model.weight();
  for (ObjectiveModel& model : models)
    model.set_weight(model.weight() / sum);
}

}  // namespace

Posterior ObjectiveModel::predict(const Matrix& features, std::size_t first, std::size_t last,
                                  Variances variances) const {
  if (!plain_.empty()) {
    const GaussianProcess& process = plain_[0].process;
    return variances == Variances::bounded ? process.bound(features, first, last)
                                           : process.predict(features, first, last);
  }
  if (shifted_) return on_top_of_earlier(*shifted_, transform_, features, first, last);
  // The mean of a composition grows with the variances of its parts: it has no cheaper bound.
  const Mixture mixture = composite_->predict(features, first, last);
  const double scale = transform_.scale();
  Posterior posterior;
  for (std::size_t i = 0; i < mixture.rows(); ++i) {
    const Normal log_value = mixture.moments(i);
    posterior.means.push_back((log_value.mean - transform_.centre()) / scale);
    posterior.variances.push_back(
        std::max(log_value.variance / (scale * scale), k_smallest_variance));
  }
  return posterior;
}

std::vector<double> ObjectiveModel::log_improvements(const Matrix& features, std::size_t first,
                                                     std::size_t last, double best,
                                                     Variances variances) const {
  std::vector<double> result;
  if (!composite_) {
    const Posterior posterior = predict(features, first, last, variances);
    for (std::size_t i = 0; i < posterior.means.size(); ++i) {
      result.push_back(
          log_expected_improvement({posterior.means[i], posterior.variances[i]}, best));
    }
    return result;
  }
  const Mixture mixture = composite_->predict(features, first, last, k_spread);
  const double scale = transform_.scale();
  const double log_draws = std::log(static_cast<double>(mixture.draws));
  for (std::size_t i = 0; i < mixture.rows(); ++i) {
    const double variance = std::max(mixture.variances[i] / (scale * scale), k_smallest_variance);
    double sum = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < mixture.draws; ++k) {
      const double mean = (mixture.means[i * mixture.draws + k] - transform_.centre()) / scale;
      sum = log_sum(sum, log_expected_improvement({mean, variance}, best));
    }
    result.push_back(sum - log_draws);
  }
  return result;
}

bool ObjectiveModel::bounds() const {
  return !plain_.empty() && plain_[0].process.size() >= GaussianProcess::k_worth_bounding;
}

ObjectiveLearner::ObjectiveLearner(const FeatureGroups& groups, std::vector<FeatureScale> scales,
                                   std::size_t dimensions, bool positive)
    : groups_(groups),
      dimensions_(dimensions),
      whole_(groups, dimensions, positive),
      positive_(positive),
      composable_(positive),
      composite_(groups, std::move(scales)) {}

bool ObjectiveLearner::reports_parts(double value, const std::map<std::string, double>& parts) {
  std::vector<std::string> names;
  double sum = 0.0;
  for (const auto& [name, seconds] : parts) {
    if (!std::isfinite(seconds) || seconds < 0.0) return false;
    names.push_back(name);
    sum += seconds;
  }
  if (whole_.size() == 1) part_names_ = names;
  const auto moderate = [](double time) { return time > k_shortest && time < k_longest; };
  return names.size() >= 2 && names == part_names_ && moderate(sum) && moderate(value);
}

void ObjectiveLearner::add(std::span<const double> features, double value, double standard_error,
                           const std::map<std::string, double>& parts) {
  whole_.add(features, value, standard_error);
  // One trial without its parts, and the parts no longer tell the whole story.
  composable_ = composable_ && reports_parts(value, parts);
  if (composable_) composite_.add(features, value, standard_error, parts);
}

void ObjectiveLearner::add_earlier(std::size_t study, std::span<const double> features,
                                   double value, double standard_error) {
  while (earlier_.size() <= study)
    earlier_.emplace_back(groups_, dimensions_, positive_);
  earlier_[study].add(features, value, standard_error);
}

std::vector<ObjectiveModel> ObjectiveLearner::models(const Matrix& pending, std::size_t most) {
  std::vector<ObjectiveModel> result = models_without_parts(pending, most);
  if (!composable_ || whole_.size() < k_fewest_for_parts || whole_.size() > k_most_for_parts) {
    return result;
  }
  const double evidence = evidence_of_whole(most);
  const OutputTransform transform(Warp::log, values());
  for (CompositeModel& composite : composite_.models(pending)) {
    // Beside all others together, whose weight is 1; bounded, so that nothing overflows.
    const double weight =
        std::clamp(belief_weight(composite.evidence() - evidence, whole_.size()), 1e-200, 1e200);
    result.emplace_back(std::move(composite), transform, weight);
  }
  double least = 0.0;
  for (const ObjectiveModel& model : result)
    least = std::max(least, k_negligible * model.weight());
  std::erase_if(result, [&](const ObjectiveModel& model) { return model.weight() < least; });
  settle(result);
  return result;
}

std::vector<double> ObjectiveLearner::targets(const ObjectiveModel& model) const {
  if (model.composite_) return model.predict(whole_.features(), 0, whole_.features().rows()).means;
  std::vector<double> result;
  if (!model.plain_.empty() && values().size() <= Learner::k_model_limit) {
    result = model.plain_[0].process.noise_free_targets();
    result.resize(values().size());  // pending trials come last
    return result;
  }
  for (const double value : values())
    result.push_back(model.transform_.forward(value));
  return result;
}

double ObjectiveLearner::evidence_of_whole(std::size_t most) {
  // Asking for fewer models than are wanted would throw away what the others rest on.
  return evidence_of(whole_.models(Matrix(whole_.features().cols()), most)[0], values());
}

std::vector<ObjectiveModel> ObjectiveLearner::models_without_parts(const Matrix& pending,
                                                                   std::size_t most) {
  std::vector<ObjectiveModel> models;
  const bool learned_before = !earlier_.empty() && whole_.size() <= Learner::k_model_limit;
  for (Model& model : whole_.models(pending, most))
    models.emplace_back(std::move(model));
  if (!learned_before) return models;
  std::vector<double> evidences(models.size(), evidence_of_whole(most));
  for (EarlierStudy& study : earlier_) {
    auto shifted = study.shifted(whole_, pending);
    if (!shifted) continue;
    evidences.push_back(shifted->evidence);
    const Warp warp = shifted->earlier->positive() ? Warp::log : Warp::none;
    models.emplace_back(*std::move(shifted), OutputTransform(warp, values()));
  }
  const double highest = *std::max_element(evidences.begin(), evidences.end());
  std::vector<ObjectiveModel> result;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const double weight = models[i].weight() * belief_weight(evidences[i] - highest, whole_.size());
    if (weight < k_negligible * models[i].weight()) continue;
    models[i].set_weight(weight);
    result.push_back(std::move(models[i]));
  }
  settle(result);
  return result;
}

}  // namespace steptune::bayes
