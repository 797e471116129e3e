// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/trade_offs.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/normal.hpp>

namespace steptune {
namespace {

double known(double error) {
  return std::isfinite(error) ? error : 0.0;
}

class TradeOffs {
 public:
  TradeOffs(const ObjectiveValues& leader, std::span<const ObjectiveValues> others)
      : others_(others), critical_(critical_difference(others.size() + 1)) {
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (is_better(others[i], leader, 1) && !is_better(others[i], leader, 0)) left_.push_back(i);
    }
  }

  std::vector<std::size_t> choose() {
    std::vector<std::size_t> chosen;
    while (!left_.empty()) {
      chosen.push_back(next());
      const ObjectiveValues& last = others_[chosen.back()];
      std::erase_if(left_, [&](std::size_t i) { return !are_a_trade_off(others_[i], last); });
    }
    std::ranges::sort(chosen, {}, [&](std::size_t i) { return others_[i].values[0]; });
    return chosen;
  }

 private:
  [[nodiscard]] bool is_better(const ObjectiveValues& a, const ObjectiveValues& b,
                               std::size_t objective) const {
    const double both =
        std::hypot(known(a.standard_errors[objective]), known(b.standard_errors[objective]));
    return a.values[objective] + critical_ * both < b.values[objective];
  }

  [[nodiscard]] bool are_a_trade_off(const ObjectiveValues& a, const ObjectiveValues& b) const {
    return (is_better(a, b, 0) && is_better(b, a, 1)) || (is_better(b, a, 0) && is_better(a, b, 1));
  }

  [[nodiscard]] std::size_t next() const {
    const ObjectiveValues& least = others_[*std::ranges::min_element(left_, {}, [&](std::size_t i) {
      return std::pair(others_[i].values[1], others_[i].values[0]);
    })];
    std::size_t best = left_.front();
    bool found = false;
    for (const std::size_t i : left_) {
      if (is_better(least, others_[i], 1)) continue;
      if (!found || others_[i].values < others_[best].values) best = i;
      found = true;
    }
    return best;
  }

  std::span<const ObjectiveValues> others_;
  double critical_;
  std::vector<std::size_t> left_;
};

}  // namespace

double critical_difference(std::size_t candidates) {
  const double others = std::max<double>(1.0, static_cast<double>(candidates) - 1.0);
  return boost::math::quantile(boost::math::normal(), std::pow(0.95, 1.0 / others));
}

std::vector<std::size_t> trade_offs(const ObjectiveValues& leader,
                                    std::span<const ObjectiveValues> others) {
  return TradeOffs(leader, others).choose();
}

}  // namespace steptune
