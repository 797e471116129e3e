// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/surrogate.hpp"

#include <algorithm>
#include <cmath>

#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

// How much worse any unlikely candidate is than every likely one, in logarithms.
constexpr double k_below_threshold = 1e6;

Normal at(const Posterior& posterior, std::size_t i) {
  return {posterior.means[i], posterior.variances[i]};
}

}  // namespace

Surrogate::Surrogate(Parts parts) : parts_(std::move(parts)) {
  has_best_ = !parts_.feasible_targets.empty() && !parts_.feasible_targets[0].empty();
  if (!has_best_) return;
  const auto& first = parts_.feasible_targets[0];
  if (parts_.objectives.size() < 2) {
    best_ = *std::min_element(first.begin(), first.end());
    return;
  }
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < first.size(); ++i) {
    pairs.push_back({first[i], parts_.feasible_targets[1][i]});
  }
  const auto front = pareto_front(pairs);
  const Pair reference = reference_point(front, pairs);
  dominated_area_ = dominated_area(front, reference);
  hypervolume_.emplace(front, reference);
}

std::vector<double> Surrogate::log_feasibilities(const Matrix& features, std::size_t first,
                                                 std::size_t last) const {
  std::vector<double> result(last - first, 0.0);
  if (!parts_.feasibility) return result;
  const Posterior posterior = parts_.feasibility->process.predict(features, first, last);
  const double middle = parts_.feasibility->transform.forward(0.5);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = log_normal_cdf((posterior.means[i] - middle) / std::sqrt(posterior.variances[i]));
  }
  return result;
}

void Surrogate::score(const Matrix& features, std::size_t first, std::size_t last,
                      std::span<double> scores) const {
  const auto feasibilities = log_feasibilities(features, first, last);
  std::copy(feasibilities.begin(), feasibilities.end(), scores.begin());
  if (!has_best_) return;
  const double threshold = std::log(parts_.feasibility_threshold);
  const Posterior one = parts_.objectives[0].predict(features, first, last);
  Posterior two;
  if (hypervolume_) two = parts_.objectives[1].predict(features, first, last);
  for (std::size_t i = 0; i < feasibilities.size(); ++i) {
    scores[i] += hypervolume_ ? hypervolume_->log_expected(at(one, i), at(two, i))
                              : log_expected_improvement(at(one, i), best_);
    if (feasibilities[i] < threshold) {
      scores[i] = -k_below_threshold * (1.0 + std::min(threshold - feasibilities[i], 1e6));
    }
  }
}

std::optional<double> Surrogate::improvement_share(const Matrix& features, std::size_t row) const {
  if (!has_best_) return std::nullopt;
  const double feasibility = std::exp(log_feasibilities(features, row, row + 1)[0]);
  const Normal one = at(parts_.objectives[0].predict(features, row, row + 1), 0);
  if (!hypervolume_) {
    return feasibility *
           parts_.objectives[0].transform().improvement_share(best_, one.mean, one.variance);
  }
  const Normal two = at(parts_.objectives[1].predict(features, row, row + 1), 0);
  return feasibility *
         std::min(std::exp(hypervolume_->log_expected(one, two)) / dominated_area_, 1e6);
}

}  // namespace steptune::bayes
