// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/stopping_rate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace steptune::bayes {
namespace {

// Number of predicted means for which `RuleValue` tabulates values. The means are equally spaced,
// up to `k_grid_deviations` standard deviations to either side of the first prediction.
constexpr std::size_t k_grid_points = 161;
constexpr double k_grid_deviations = 6.0;

/// A point and its probability, in a discrete approximation of the standard normal distribution.
struct Node {
  double place;
  double weight;
};

/// Approximates a standard normal distribution by equally spaced points. Equal spacing suffices,
/// because the averaged function is an expectation and therefore smooth.
std::vector<Node> make_nodes() {
  std::vector<Node> nodes;
  double sum = 0.0;
  for (int halves = -7; halves <= 7; ++halves) {
    const double place = 0.5 * halves;
    nodes.push_back({place, std::exp(-0.5 * place * place)});
    sum += nodes.back().weight;
  }
  for (Node& node : nodes)
    node.weight /= sum;
  return nodes;
}

double improvement(double mean, double variance, double best) {
  if (!(variance > 0.0)) return std::max(best - mean, 0.0);
  return std::exp(log_expected_improvement({mean, variance}, best));
}

/// Value of the best stopping rule: the expected improvement minus `rate` times the expected price.
class RuleValue {
 public:
  RuleValue(const Normal& full, double best, std::span<const Stage> stages)
      : full_(full), best_(best), stages_(stages), nodes_(make_nodes()) {
    low_ = full.mean - k_grid_deviations * std::sqrt(full.variance);
    step_ =
        2.0 * k_grid_deviations * std::sqrt(full.variance) / static_cast<double>(k_grid_points - 1);
  }

  [[nodiscard]] double at(double rate) const {
    // Backward induction. V_k(mean) is the value before stage k is paid for:
    // V_k(mean) = max(0, E[V_k+1] - rate price_k); V_0 is without the max. After the last stage, V
    // is the improvement.
    std::vector<double> values(k_grid_points);
    std::vector<double> next(k_grid_points);
    for (std::size_t k = stages_.size(); k-- > 0;) {
      const double before = k == 0 ? full_.variance : stages_[k - 1].variance;
      const double resolved = std::max(0.0, before - stages_[k].variance);
      const double price = rate * stages_[k].price;
      if (k == 0)
        return expected(full_.mean, std::sqrt(resolved), next, stages_.size() == 1) - price;
      for (std::size_t i = 0; i < k_grid_points; ++i) {
        const double mean = low_ + step_ * static_cast<double>(i);
        const bool last = k + 1 == stages_.size();
        values[i] = std::max(0.0, (last ? improvement(mean, resolved, best_)
                                        : expected(mean, std::sqrt(resolved), next, false)) -
                                      price);
      }
      std::swap(values, next);
    }
    return 0.0;
  }

 private:
  [[nodiscard]] double expected(double mean, double deviation, const std::vector<double>& next,
                                bool last) const {
    if (last) return improvement(mean, deviation * deviation, best_);
    double sum = 0.0;
    for (const Node& node : nodes_) {
      const double place =
          std::clamp((mean + deviation * node.place - low_) / step_, 0.0, k_grid_points - 1.001);
      const auto below = static_cast<std::size_t>(place);
      const double share = place - static_cast<double>(below);
      sum += node.weight * ((1.0 - share) * next[below] + share * next[below + 1]);
    }
    return sum;
  }

  Normal full_;
  double best_;
  std::span<const Stage> stages_;
  std::vector<Node> nodes_;
  double low_ = 0.0;
  double step_ = 1.0;
};

}  // namespace

double log_stopping_rate(const Normal& full, double best, std::span<const Stage> stages) {
  // Finds the rate at which V_0 is 0, by bisection. This rate corresponds to the Gittins index of a
  // Pandora's box with stages (Weitzman 1979; Xie et al. 2024).
  double price = 0.0;
  for (const Stage& stage : stages)
    price += stage.price;
  const double log_gain = log_expected_improvement(full, best);
  // Rate of a trial that is never stopped early: a lower bound.
  double low = log_gain - std::log(price);
  if (stages.size() == 1) return low;
  double high = log_gain - std::log(stages.front().price);
  const RuleValue value_of_rule(full, best, stages);
  // If the value at `low` is not positive, the grid is too coarse to find a higher rate. Early
  // stopping would hardly raise the rate above `low`.
  if (!(value_of_rule.at(std::exp(low)) > 0.0)) return low;
  // If a price is 0 or infinite, `low` or `high` is infinite, and the loop still ends.
  for (int halvings = 0; halvings < 40 && high - low > 1e-3; ++halvings) {
    const double middle = 0.5 * (low + high);
    (value_of_rule.at(std::exp(middle)) > 0.0 ? low : high) = middle;
  }
  return low;
}

}  // namespace steptune::bayes
