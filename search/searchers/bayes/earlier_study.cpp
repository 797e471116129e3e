// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/earlier_study.hpp"

#include <algorithm>
#include <cmath>

namespace steptune::bayes {
namespace {

// A model without logarithms may predict values that are not positive. Such predictions are raised
// to this share of the mean.
constexpr double k_least_share = 1e-3;

}  // namespace

std::vector<double> EarlierModel::expectations(const Matrix& features, std::size_t first,
                                               std::size_t last) const {
  std::vector<double> expected = model_.process.predict(features, first, last).means;
  const OutputTransform& transform = model_.transform;
  const double least = k_least_share * std::abs(transform.centre());
  for (double& target : expected) {
    if (positive_ && transform.warp() == Warp::log) {
      target = transform.centre() + transform.scale() * target;
    } else {
      const double value = transform.backward(target);
      target = positive_ ? std::log(std::max(value, least)) : value;
    }
  }
  return expected;
}

double EarlierModel::on_scale(double value) const {
  return positive_ ? std::log(value) : value;
}

EarlierStudy::EarlierStudy(const FeatureGroups& groups, std::size_t dimensions, bool positive)
    : groups_(groups),
      dimensions_(dimensions),
      learner_(groups, dimensions, positive),
      positive_(positive) {}

void EarlierStudy::add(std::span<const double> features, double value, double standard_error) {
  learner_.add(features, value, standard_error);
  positive_ = positive_ && value > 0.0;
  model_.reset();
  remainder_.reset();
}

bool EarlierStudy::prepare(const Learner& own) {
  if (learner_.size() < k_fewest_examples || own.size() == 0) return false;
  const auto values = own.values();
  if (positive_ && !std::ranges::all_of(values, [](double value) { return value > 0.0; })) {
    return false;
  }
  if (!model_) {
    const Matrix nothing_pending(learner_.features().cols());
    model_ = std::make_shared<const EarlierModel>(learner_.model(nothing_pending), positive_);
  }
  if (!remainder_) remainder_.emplace(groups_, dimensions_, false);
  const std::size_t first = remainder_->size();
  const auto expected = model_->expectations(own.features(), first, own.size());
  for (std::size_t i = first; i < own.size(); ++i) {
    const double error = own.standard_errors()[i];
    remainder_->add(own.features().row(i), model_->on_scale(values[i]) - expected[i - first],
                    positive_ ? error / values[i] : error);
  }
  return true;
}

std::optional<ShiftedModel> EarlierStudy::shifted(const Learner& own, const Matrix& pending) {
  if (!prepare(own)) return std::nullopt;
  const Matrix nothing_pending(pending.cols());
  double evidence = evidence_of(remainder_->model(nothing_pending), remainder_->values());
  if (positive_) {
    // Convert the density of logarithms into a density of values.
    for (const double value : own.values())
      evidence -= std::log(value) / static_cast<double>(own.size());
  }
  return ShiftedModel{model_, remainder_->model(pending), evidence};
}

}  // namespace steptune::bayes
