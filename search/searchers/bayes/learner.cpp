// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/learner.hpp"

#include <algorithm>
#include <numeric>

namespace steptune::bayes {
namespace {

// Hyperparameters are fitted to at most this many examples: a likelihood costs their number cubed,
// and more of them hardly move the fit.
constexpr std::size_t k_fit_limit = 160;
constexpr std::size_t k_first_fit = 3;

/// The numbers of examples at which hyperparameters are fitted from scratch: 3, 6, 9, 12, 16, 21...
std::size_t last_fresh_fit(std::size_t count) {
  std::size_t at = k_first_fit;
  for (;;) {
    const std::size_t next = at + std::max<std::size_t>(3, at / 4);
    if (next > count) return at;
    at = next;
  }
}

std::size_t refit_stride(std::size_t count) {
  if (count < 100) return 2;
  return count < 300 ? 4 : 8;
}

int refit_evaluations(std::size_t count) {
  return count < 60 ? 8 : 4;
}

}  // namespace

Learner::Learner(const FeatureGroups& groups, std::size_t dimensions, bool positive)
    : groups_(groups),
      priors_{Prior::dimension_scaled(dimensions), Prior::flat()},
      positive_(positive),
      features_(groups.group_of_feature.size()) {}

void Learner::add(std::span<const double> features, double value, double standard_error) {
  features_.append_row(features);
  values_.push_back(value);
  standard_errors_.push_back(standard_error);
  if (positive_ && !(value > 0.0)) {
    // No logarithm from here on; what was fitted with one is forgotten, so that the order of fits
    // does not depend on when somebody asked.
    positive_ = false;
    beliefs_ = {};
  }
}

std::vector<std::size_t> Learner::representative_rows(std::size_t count, std::size_t limit) const {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (count <= limit) return rows;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::size_t a, std::size_t b) { return values_[a] < values_[b]; });
  // The best half of the limit, and the others at even distances of rank.
  const std::size_t best = limit / 2;
  const std::size_t others = limit - best;
  std::vector<std::size_t> chosen(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(best));
  for (std::size_t i = 0; i < others; ++i) {
    chosen.push_back(rows[best + i * (count - best) / others]);
  }
  std::sort(chosen.begin(), chosen.end());
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

Learner::Belief Learner::fitted(Warp warp, std::size_t turn, std::size_t count) const {
  const OutputTransform transform(warp, std::span(values_).first(count));
  const auto few = representative_rows(count, k_fit_limit / 2);
  const TrainingSet sketch = training_set(transform, few);
  Belief belief;
  belief.examples = count;
  belief.warp = warp;
  belief.hyperparameters =
      fit_hyperparameters(sketch, groups_, priors_[turn], priors_[turn].start(groups_.count), 30);
  const auto loo = GaussianProcess(sketch, groups_, belief.hyperparameters).leave_one_out();
  for (std::size_t i = 0; i < few.size(); ++i) {
    belief.evidence += loo.log_densities[i] + transform.log_jacobian(values_[few[i]]);
  }
  belief.evidence /= static_cast<double>(few.size());
  return belief;
}

void Learner::fit_afresh(Belief& belief, std::size_t turn, std::size_t count) const {
  belief = fitted(Warp::none, turn, count);
  if (positive_) {
    Belief logarithmic = fitted(Warp::log, turn, count);
    if (logarithmic.evidence >= belief.evidence) belief = std::move(logarithmic);
  }
}

void Learner::refit(Belief& belief, std::size_t turn, std::size_t count) const {
  const OutputTransform transform(belief.warp, std::span(values_).first(count));
  belief.hyperparameters =
      fit_hyperparameters(training_set(transform, representative_rows(count, k_fit_limit)), groups_,
                          priors_[turn], belief.hyperparameters, refit_evaluations(count));
  belief.examples = count;
}

void Learner::advance(std::size_t turn) {
  Belief& belief = beliefs_[turn];
  const std::size_t fresh = last_fresh_fit(size());
  if (size() < k_first_fit) {
    belief = Belief{};
    belief.hyperparameters = priors_[turn].start(groups_.count);
    belief.warp = positive_ ? Warp::log : Warp::none;
    return;
  }
  if (belief.examples < fresh) fit_afresh(belief, turn, fresh);
  for (;;) {
    const std::size_t next = belief.examples + refit_stride(belief.examples);
    if (next > size()) break;
    refit(belief, turn, next);
  }
}

Model Learner::model(std::size_t turn, const Matrix& pending) {
  advance(turn);
  const Belief& belief = beliefs_[turn];
  const auto rows = representative_rows(size(), k_model_limit);
  const OutputTransform transform(belief.warp, values_);
  TrainingSet training = training_set(transform, rows);
  GaussianProcess process(training, groups_, belief.hyperparameters);
  if (pending.rows() > 0) {
    const Posterior expected = process.predict(pending);
    for (std::size_t i = 0; i < pending.rows(); ++i) {
      training.features.append_row(pending.row(i));
      training.targets.push_back(expected.means[i]);
      training.noise_variances.push_back(0.0);
    }
    process = GaussianProcess(training, groups_, belief.hyperparameters);
  }
  return Model{std::move(process), transform};
}

}  // namespace steptune::bayes
