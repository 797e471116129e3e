// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/objective_learner.hpp"

#include <algorithm>
#include <cmath>

#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

/// Predicts targets of `transform`: the earlier study's expectation plus this study's deviation.
Posterior on_top_of_earlier(const ShiftedModel& shifted, const OutputTransform& transform,
                            const Matrix& features, std::size_t first, std::size_t last) {
  Posterior posterior = shifted.remainder.process.predict(features, first, last);
  const auto expected = shifted.earlier->expectations(features, first, last);
  const OutputTransform& own = shifted.remainder.transform;
  // Use the ratio: squares of the scales may underflow.
  const double ratio = own.scale() / transform.scale();
  for (std::size_t i = 0; i < posterior.means.size(); ++i) {
    const double offset = (expected[i] + own.centre() - transform.centre()) / transform.scale();
    posterior.means[i] = offset + ratio * posterior.means[i];
    posterior.variances[i] = std::max(ratio * ratio * posterior.variances[i], k_least_variance);
  }
  return posterior;
}

/// Sorts by weight, highest first, and scales the weights to add up to 1.
void normalise_weights(std::vector<ObjectiveModel>& models) {
  std::ranges::stable_sort(models,
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
  if (shifted_) return on_top_of_earlier(*shifted_, transform_, features, first, last);
  const GaussianProcess& process = plain_[0].process;
  return variances == Variances::bounded ? process.bound(features, first, last)
                                         : process.predict(features, first, last);
}

bool ObjectiveModel::has_cheap_bounds() const {
  return !plain_.empty() && plain_[0].process.size() >= GaussianProcess::k_many_examples;
}

ObjectiveLearner::ObjectiveLearner(const FeatureGroups& groups, std::size_t dimensions,
                                   bool positive)
    : groups_(groups),
      dimensions_(dimensions),
      own_(groups, dimensions, positive),
      positive_(positive) {}

void ObjectiveLearner::add(std::span<const double> features, double value, double standard_error) {
  own_.add(features, value, standard_error);
}

void ObjectiveLearner::add_earlier(std::size_t study, std::span<const double> features,
                                   double value, double standard_error) {
  while (earlier_.size() <= study)
    earlier_.emplace_back(groups_, dimensions_, positive_);
  earlier_[study].add(features, value, standard_error);
}

std::vector<double> ObjectiveLearner::targets(const ObjectiveModel& model) const {
  std::vector<double> result;
  if (model.plain() != nullptr && values().size() <= Learner::k_model_limit) {
    result = model.plain()->process.noise_free_targets();
    result.resize(values().size());  // drop pending trials, which are last
    return result;
  }
  for (const double value : values())
    result.push_back(model.transform().forward(value));
  return result;
}

std::vector<ObjectiveModel> ObjectiveLearner::models(const Matrix& pending, std::size_t most) {
  // Weights use the leave-one-out log density (Rasmussen and Williams 2006, eq. 5.10-5.12). Earlier
  // studies are prior means (after Feurer, Letham, Hutter and Bakshy 2018).
  std::vector<ObjectiveModel> models;
  for (Model& model : own_.models(pending, most))
    models.emplace_back(std::move(model));
  if (earlier_.empty() || own_.size() > Learner::k_model_limit) return models;
  // Compare evidence without pending trials. Request as many models as above: otherwise the learner
  // would drop the Gaussian processes of the other models.
  const Matrix nothing_pending(own_.features().cols());
  std::vector<double> evidences(models.size(),
                                evidence_of(own_.models(nothing_pending, most)[0], values()));
  for (EarlierStudy& study : earlier_) {
    auto shifted = study.shifted(own_, pending);
    if (!shifted) continue;
    evidences.push_back(shifted->evidence);
    const Warp warp = shifted->earlier->positive() ? Warp::log : Warp::none;
    models.emplace_back(*std::move(shifted), OutputTransform(warp, values()));
  }
  const double highest = *std::ranges::max_element(evidences);
  std::vector<ObjectiveModel> result;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const double weight =
        models[i].weight() * candidate_weight(evidences[i] - highest, own_.size());
    if (weight < k_negligible * models[i].weight()) continue;
    models[i].set_weight(weight);
    result.push_back(std::move(models[i]));
  }
  normalise_weights(result);
  return result;
}

}  // namespace steptune::bayes
