// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/trade_offs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <boost/math/distributions/normal.hpp>

namespace steptune {
namespace {

using Pair = std::array<MeasuredValue, 2>;

double known(double error) {
  return std::isfinite(error) ? error : 0.0;
}

class TradeOffs {
 public:
  TradeOffs(const Pair& leader, std::span<const Pair> others)
      : others_(others), critical_(critical_difference(others.size() + 1)) {
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (is_better(others[i], leader, 1) && !is_better(others[i], leader, 0)) left_.push_back(i);
    }
  }

  std::vector<std::size_t> choose() {
    std::vector<std::size_t> chosen;
    while (!left_.empty()) {
      chosen.push_back(next());
      const Pair& last = others_[chosen.back()];
      std::erase_if(left_, [&](std::size_t i) { return !are_a_trade_off(others_[i], last); });
    }
    std::ranges::sort(chosen, {}, [&](std::size_t i) { return others_[i][0].value; });
    return chosen;
  }

 private:
  [[nodiscard]] bool is_better(const Pair& a, const Pair& b, std::size_t objective) const {
    const double both = std::hypot(known(a[objective].error), known(b[objective].error));
    return a[objective].value + critical_ * both < b[objective].value;
  }

  [[nodiscard]] bool are_a_trade_off(const Pair& a, const Pair& b) const {
    return (is_better(a, b, 0) && is_better(b, a, 1)) || (is_better(b, a, 0) && is_better(a, b, 1));
  }

  [[nodiscard]] std::pair<double, double> values_of(std::size_t i) const {
    return {others_[i][0].value, others_[i][1].value};
  }

  [[nodiscard]] std::size_t next() const {
    const Pair& least = others_[*std::ranges::min_element(left_, {}, [&](std::size_t i) {
      return std::pair(others_[i][1].value, others_[i][0].value);
    })];
    std::size_t best = left_.front();
    bool found = false;
    for (const std::size_t i : left_) {
      if (is_better(least, others_[i], 1)) continue;
      if (!found || values_of(i) < values_of(best)) best = i;
      found = true;
    }
    return best;
  }

  std::span<const Pair> others_;
  double critical_;
  std::vector<std::size_t> left_;
};

}  // namespace

double critical_difference(std::size_t candidates) {
  const double others = std::max<double>(1.0, static_cast<double>(candidates) - 1.0);
  return boost::math::quantile(boost::math::normal(), std::pow(0.95, 1.0 / others));
}

std::vector<std::size_t> trade_offs(const Pair& leader, std::span<const Pair> others) {
  return TradeOffs(leader, others).choose();
}

}  // namespace steptune
