// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/learner.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/numbers.hpp"

namespace steptune::bayes {
namespace {

// Hyperparameters are fitted to at most `k_fit_limit` examples, from scratch to at most
// `k_fresh_limit`. The time of a likelihood grows with the cube of the number of examples, and more
// examples hardly change the fit.
constexpr std::size_t k_fit_limit = 120;
constexpr std::size_t k_fresh_limit = 64;

// Divides the sum of leave-one-out log densities: each prediction uses all other examples, so the
// sum counts the same evidence several times.
constexpr double k_correlated = 3.0;

/// Returns the number of examples between two fits.
std::size_t stride(std::size_t count) {
  if (count < 40) return 2;
  return count < 120 ? 4 : 16;
}

/// Returns the largest number of examples up to `count` at which hyperparameters are fitted from
/// scratch. `place` is the index of the model candidate.
std::size_t last_fresh_fit(std::size_t count, std::size_t place) {
  std::size_t at = Learner::k_first_fit;
  for (;;) {
    // From 12 examples on, candidates are refitted in turn, so that no single suggestion waits for
    // all of them.
    std::size_t next = at + std::max<std::size_t>(3, at / 4);
    if (at < 12 && next >= 12) next += place;
    if (next > count) return at;
    at = next;
  }
}

int refit_evaluations(std::size_t count) {
  return count < 60 ? 8 : 5;
}

}  // namespace

double candidate_weight(double evidence_gap, std::size_t examples) {
  return std::exp(evidence_gap * static_cast<double>(examples) / k_correlated);
}

double evidence_of(const Model& model, std::span<const double> values) {
  const auto densities = model.process.leave_one_out().log_densities;
  double total = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i)
    total += densities[i] + model.transform.log_jacobian(values[i]);
  return total / static_cast<double>(values.size());
}

Learner::Learner(const FeatureGroups& groups, std::size_t dimensions, bool positive)
    : groups_(groups),
      priors_{Prior::smooth(dimensions), Prior::dimension_scaled(dimensions), Prior::flat()},
      positive_(positive),
      features_(groups.group_of_feature.size()) {
  make_candidates();
}

void Learner::make_candidates() {
  candidates_.clear();
  for (std::size_t prior = 0; prior < priors_.size(); ++prior) {
    const Hyperparameters start = priors_[prior].start(groups_.count);
    if (positive_) candidates_.push_back({prior, Warp::log, 0, start, 0.0, std::nullopt});
    candidates_.push_back({prior, Warp::none, 0, start, 0.0, std::nullopt});
  }
}

void Learner::add(std::span<const double> features, double value, double standard_error) {
  features_.append_row(features);
  values_.push_back(value);
  standard_errors_.push_back(standard_error);
  if (positive_ && !(value > 0.0)) {
    // Use no logarithms from now on. Start again with new candidates, so that fits do not depend on
    // when models were requested.
    positive_ = false;
    make_candidates();
  }
}

std::vector<std::size_t> Learner::representative_rows(std::size_t count, std::size_t limit) const {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (count <= limit) return rows;
  std::ranges::stable_sort(rows,
                           [&](std::size_t a, std::size_t b) { return values_[a] < values_[b]; });
  // Fill half of the limit with the best values. Choose the other half from the remaining values,
  // evenly by rank.
  const std::size_t best = limit / 2;
  const std::size_t others = limit - best;
  std::vector<std::size_t> chosen(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(best));
  for (std::size_t i = 0; i < others; ++i)
    chosen.push_back(rows[best + i * (count - best) / others]);
  std::ranges::sort(chosen);
  return chosen;
}

TrainingSet Learner::training_set(const OutputTransform& transform,
                                  std::span<const std::size_t> rows) const {
  TrainingSet training;
  training.features = Matrix(features_.cols());
  training.features.reserve_rows(rows.size());
  for (const std::size_t row : rows) {
    training.features.append_row(features_.row(row));
    training.targets.push_back(transform.forward(values_[row]));
    training.noise_variances.push_back(
        transform.noise_variance(values_[row], standard_errors_[row]));
  }
  return training;
}

void Learner::fit(ModelCandidate& candidate, std::size_t count, std::size_t limit,
                  const std::vector<Hyperparameters>& starts, int evaluations) const {
  const OutputTransform transform(candidate.warp, std::span(values_).first(count));
  const auto rows = representative_rows(count, limit);
  const TrainingSet training = training_set(transform, rows);
  double lowest = k_infinity;
  for (const Hyperparameters& start : starts) {
    Fit fit = fit_hyperparameters(training, groups_, priors_[candidate.prior], start, evaluations);
    if (!(fit.negative_log_posterior < lowest)) continue;
    lowest = fit.negative_log_posterior;
    candidate.hyperparameters = std::move(fit.hyperparameters);
  }
  std::vector<double> values;
  for (const std::size_t row : rows)
    values.push_back(values_[row]);
  const GaussianProcess process(training, groups_, candidate.hyperparameters);
  candidate.evidence = evidence_of({process, transform}, values);
  candidate.examples = count;
}

void Learner::fit_afresh(ModelCandidate& candidate, std::size_t count) const {
  const Prior& prior = priors_[candidate.prior];
  fit(candidate, count, k_fresh_limit,
      {prior.start(groups_.count), prior.rugged_start(groups_.count)}, 30);
}

void Learner::refit(ModelCandidate& candidate, std::size_t count) const {
  fit(candidate, count, k_fit_limit, {candidate.hyperparameters}, refit_evaluations(count));
}

void Learner::advance(ModelCandidate& candidate, std::size_t place) const {
  const std::size_t fresh = last_fresh_fit(size(), place);
  if (candidate.examples < fresh) fit_afresh(candidate, fresh);
  for (;;) {
    const std::size_t next = candidate.examples + stride(candidate.examples);
    if (next > size()) break;
    refit(candidate, next);
  }
}

void Learner::advance() {
  if (size() < k_first_fit) return;
  for (std::size_t place = 0; place < candidates_.size(); ++place)
    advance(candidates_[place], place);
}

void Learner::keep_up(ModelCandidate& candidate) const {
  // Before the first fit, build the process from all examples.
  const std::size_t base = candidate.examples > 0 ? candidate.examples : size();
  auto& conditioned = candidate.conditioned;
  if (!conditioned || conditioned->built_from != base) {
    const OutputTransform transform(candidate.warp, std::span(values_).first(base));
    auto rows = representative_rows(base, k_model_limit);
    GaussianProcess process(training_set(transform, rows), groups_, candidate.hyperparameters);
    conditioned.emplace(Conditioned{base, base, std::move(rows), transform, std::move(process)});
  }
  if (conditioned->examples == size()) return;
  // Append the examples that were added since.
  std::vector<std::size_t> later(size() - conditioned->examples);
  std::iota(later.begin(), later.end(), conditioned->examples);
  conditioned->process.append(training_set(conditioned->noise_transform, later));
  conditioned->examples = size();
  conditioned->rows.insert(conditioned->rows.end(), later.begin(), later.end());
}

Model Learner::condition(ModelCandidate& candidate, const Matrix& pending) const {
  keep_up(candidate);
  const OutputTransform transform(candidate.warp, values_);
  std::vector<double> targets;
  for (const std::size_t row : candidate.conditioned->rows)
    targets.push_back(transform.forward(values_[row]));
  Model model{candidate.conditioned->process, transform};
  model.process.set_targets(std::move(targets));
  if (pending.rows() == 0) return model;
  TrainingSet expected;
  expected.features = pending;
  expected.targets = model.process.predict(pending).means;
  expected.noise_variances.assign(pending.rows(), 0.0);
  model.process.append(expected);
  return model;
}

std::vector<std::size_t> Learner::order() const {
  std::vector<std::size_t> order(candidates_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return candidates_[a].evidence > candidates_[b].evidence;
  });
  return order;
}

std::vector<Model> Learner::models(const Matrix& pending, std::size_t most) {
  advance();
  const auto order = this->order();
  std::vector<Model> result;
  double sum = 0.0;
  for (const std::size_t place : order) {
    ModelCandidate& candidate = candidates_[place];
    const double weight =
        candidate_weight(candidate.evidence - candidates_[order[0]].evidence, size());
    if (result.size() == most || (weight < k_negligible && !result.empty())) {
      candidate.conditioned.reset();
      continue;
    }
    result.push_back(condition(candidate, pending));
    result.back().weight = weight;
    sum += weight;
  }
  for (Model& model : result)
    model.weight /= sum;
  return result;
}

Model Learner::model(const Matrix& pending) {
  return std::move(models(pending, 1)[0]);
}

}  // namespace steptune::bayes
