// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/objective_learner.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace steptune::bayes {
namespace {

// Fewer trials than this do not tell one structure from another.
constexpr std::size_t k_fewest_for_parts = 6;
// A part that takes no time at all still has a logarithm: this share of the whole.
constexpr double k_least_share = 1e-3;

/// Back to the units of the values, which here are logarithms.
Normal unscaled(const Model& model, const Posterior& posterior, std::size_t i) {
  const double scale = model.transform.scale();
  return {model.transform.centre() + scale * posterior.means[i],
          scale * scale * posterior.variances[i]};
}

/// The logarithm of the objective from posteriors of its parts and of the remainder.
Normal composed(const CompositeModel& composite, const std::vector<Posterior>& parts,
                const Posterior& remainder, std::size_t i) {
  std::vector<Normal> log_parts;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    log_parts.push_back(unscaled(composite.parts[k], parts[k], i));
  }
  const Normal whole = compose_logarithms(composite.composition, log_parts);
  const Normal rest = unscaled(composite.remainder[0], remainder, i);
  return {whole.mean + rest.mean, whole.variance + rest.variance};
}

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
    posterior.variances[i] = std::max(ratio * ratio * posterior.variances[i], 1e-12);
  }
  return posterior;
}

}  // namespace

Posterior ObjectiveModel::predict(const Matrix& features, std::size_t first,
                                  std::size_t last) const {
  if (shifted_) return on_top_of_earlier(*shifted_, transform_, features, first, last);
  if (!composite_) return plain_[0].process.predict(features, first, last);
  std::vector<Posterior> parts;
  for (const Model& part : composite_->parts) {
    parts.push_back(part.process.predict(features, first, last));
  }
  const Posterior remainder = composite_->remainder[0].process.predict(features, first, last);
  Posterior posterior = remainder;
  const double scale = transform_.scale();
  for (std::size_t i = 0; i < posterior.means.size(); ++i) {
    const Normal log_value = composed(*composite_, parts, remainder, i);
    posterior.means[i] = (log_value.mean - transform_.centre()) / scale;
    posterior.variances[i] = std::max(log_value.variance / (scale * scale), 1e-12);
  }
  return posterior;
}

std::vector<double> ObjectiveModel::targets(std::span<const double> values) const {
  std::vector<double> result;
  const bool known = !plain_.empty() && values.size() <= Learner::k_model_limit;
  if (known) {
    result = plain_[0].process.noise_free_targets();
    result.resize(values.size());  // pending trials come last
    return result;
  }
  for (const double value : values)
    result.push_back(transform_.forward(value));
  return result;
}

Posterior ObjectiveModel::bound(const Matrix& features, std::size_t first, std::size_t last) const {
  // The mean of a composition grows with the variances of its parts: it has no such bound.
  return plain_.empty() ? predict(features, first, last)
                        : plain_[0].process.bound(features, first, last);
}

bool ObjectiveModel::bounds() const {
  return !plain_.empty() && plain_[0].process.size() >= GaussianProcess::k_worth_bounding;
}

ObjectiveLearner::ObjectiveLearner(const FeatureGroups& groups, std::size_t dimensions,
                                   bool positive)
    : groups_(groups),
      dimensions_(dimensions),
      whole_(groups, dimensions, positive),
      positive_(positive),
      composable_(positive),
      remainders_(2, Learner(groups, dimensions, false)) {}

void ObjectiveLearner::add(std::span<const double> features, double value, double standard_error,
                           const std::map<std::string, double>& parts) {
  whole_.add(features, value, standard_error);
  if (composable_) add_parts(features, value, parts);
}

void ObjectiveLearner::add_earlier(std::size_t study, std::span<const double> features,
                                   double value, double standard_error) {
  while (earlier_.size() <= study)
    earlier_.emplace_back(groups_, dimensions_, positive_);
  earlier_[study].add(features, value, standard_error);
}

void ObjectiveLearner::add_parts(std::span<const double> features, double value,
                                 const std::map<std::string, double>& parts) {
  double sum = 0.0;
  bool usable = parts.size() >= 2 && value > 0.0;
  for (const auto& [name, seconds] : parts) {
    usable = usable && std::isfinite(seconds) && seconds >= 0.0;
    usable = usable && (whole_.size() == 1 || parts_.contains(name));
    sum += seconds;
  }
  usable = usable && sum > 0.0 && (whole_.size() == 1 || parts.size() == parts_.size());
  if (!usable) {
    // One trial without its parts, and the parts no longer tell the whole story.
    composable_ = false;
    parts_.clear();
    return;
  }
  std::vector<double> seconds_of_parts;
  for (const auto& [name, seconds] : parts) {
    const double floored = std::max(seconds, k_least_share * sum);
    parts_.try_emplace(name, groups_, dimensions_, false)
        .first->second.add(features, std::log(floored), 0.0);
    seconds_of_parts.push_back(floored);
  }
  for (const Composition composition : {Composition::sum, Composition::maximum}) {
    remainders_[static_cast<std::size_t>(composition)].add(
        features, std::log(value / compose(composition, seconds_of_parts)), 0.0);
  }
}

CompositeModel ObjectiveLearner::composite(Composition composition, const Matrix& pending) {
  CompositeModel result;
  result.composition = composition;
  for (auto& [name, learner] : parts_)
    result.parts.push_back(learner.model(pending));
  result.remainder.push_back(remainders_[static_cast<std::size_t>(composition)].model(pending));
  return result;
}

double ObjectiveLearner::evidence(const CompositeModel& composite) const {
  std::vector<Posterior> parts;
  for (const Model& part : composite.parts) {
    parts.push_back(part.process.leave_one_out().posterior);
  }
  const Posterior remainder = composite.remainder[0].process.leave_one_out().posterior;
  double total = 0.0;
  const auto values = whole_.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Normal log_value = composed(composite, parts, remainder, i);
    const double deviation = std::log(values[i]) - log_value.mean;
    total -= 0.5 * std::log(2.0 * std::numbers::pi * log_value.variance) +
             0.5 * deviation * deviation / log_value.variance + std::log(values[i]);
  }
  return total / static_cast<double>(values.size());
}

std::vector<ObjectiveModel> ObjectiveLearner::models(const Matrix& pending, std::size_t most) {
  const bool parts_known = composable_ && !parts_.empty() && whole_.size() >= k_fewest_for_parts &&
                           whole_.size() <= Learner::k_model_limit;
  std::vector<ObjectiveModel> result;
  std::optional<Composition> best;
  if (parts_known) {
    const Matrix nothing_pending(pending.cols());
    const Model whole = whole_.model(nothing_pending);
    const auto densities = whole.process.leave_one_out().log_densities;
    double best_evidence = 0.0;
    for (std::size_t i = 0; i < densities.size(); ++i) {
      best_evidence += densities[i] + whole.transform.log_jacobian(whole_.values()[i]);
    }
    best_evidence /= static_cast<double>(densities.size());
    for (const Composition composition : {Composition::sum, Composition::maximum}) {
      const double with_parts = evidence(composite(composition, nothing_pending));
      if (with_parts > best_evidence) {
        best_evidence = with_parts;
        best = composition;
      }
    }
  }
  if (best) {
    result.emplace_back(composite(*best, pending), OutputTransform(Warp::log, whole_.values()));
    return result;
  }
  return models_without_parts(pending, most);
}

std::vector<ObjectiveModel> ObjectiveLearner::models_without_parts(const Matrix& pending,
                                                                   std::size_t most) {
  std::vector<ObjectiveModel> models;
  const bool learned_before = !earlier_.empty() && whole_.size() <= Learner::k_model_limit;
  double evidence = 0.0;
  if (learned_before) {
    evidence = evidence_of(whole_.models(Matrix(pending.cols()), most)[0], values());
  }
  for (Model& model : whole_.models(pending, most))
    models.emplace_back(std::move(model));
  if (!learned_before) return models;
  std::vector<double> evidences(models.size(), evidence);
  for (EarlierStudy& study : earlier_) {
    auto shifted = study.shifted(whole_, pending);
    if (!shifted) continue;
    evidences.push_back(shifted->evidence);
    const Warp warp = shifted->earlier->positive() ? Warp::log : Warp::none;
    models.emplace_back(*std::move(shifted), OutputTransform(warp, values()));
  }
  const double highest = *std::max_element(evidences.begin(), evidences.end());
  std::vector<ObjectiveModel> result;
  double sum = 0.0;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const double weight = models[i].weight() * belief_weight(evidences[i] - highest, whole_.size());
    if (weight < k_negligible * models[i].weight()) continue;
    models[i].set_weight(weight);
    sum += weight;
    result.push_back(std::move(models[i]));
  }
  for (ObjectiveModel& model : result)
    model.set_weight(model.weight() / sum);
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.weight() > b.weight(); });
  return result;
}

}  // namespace steptune::bayes
