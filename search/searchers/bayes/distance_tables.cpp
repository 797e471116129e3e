// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/distinct_rows.hpp"

#include <algorithm>

namespace steptune::bayes {

Distinct distinct_rows(const Matrix& features, std::size_t first, std::size_t last,
                       std::pair<std::size_t, std::size_t> range) {
  // The first feature tells nearly all rows apart; only its ties look at the others.
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(last - first);
  for (std::size_t row = first; row < last; ++row)
    order.emplace_back(features(row, range.first), row);
  const auto rest_of = [&](std::size_t row) {
    return features.row(row).subspan(range.first, range.second - range.first);
  };
  const auto less = [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    const auto x = rest_of(a.second);
    const auto y = rest_of(b.second);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  };
  std::sort(order.begin(), order.end(), less);
  Distinct result;
  result.place.resize(last - first);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || less(order[i - 1], order[i])) result.rows.push_back(order[i].second);
    result.place[order[i].second - first] = result.rows.size() - 1;
  }
  return result;
}

}  // namespace steptune::bayes
