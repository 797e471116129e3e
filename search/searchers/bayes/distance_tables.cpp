// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/distance_tables.hpp"

#include <algorithm>

#include "search/searchers/bayes/matern.hpp"

namespace steptune::bayes {

DistanceTables::DistanceTables(const Matrix& features, std::size_t first, std::size_t last,
                               const FeatureGroups& groups, std::span<const double> weights)
    : features_(features) {
  for (const auto& range : ranges_of(groups)) {
    Dimension& dimension = dimensions_.emplace_back();
    dimension.range = range;
    dimension.weight = weights[dimensions_.size() - 1];
    dimension.first_table = tables_;
    find_distinct_rows(first, last, dimension);
    tables_ += dimension.rows.size();
  }
}

void DistanceTables::find_distinct_rows(std::size_t first, std::size_t last,
                                        Dimension& dimension) const {
  const auto [begin, end] = dimension.range;
  // The first feature distinguishes nearly all rows; compare the other features only for ties.
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(last - first);
  for (std::size_t row = first; row < last; ++row)
    order.emplace_back(features_(row, begin), row);
  const std::size_t width = end - begin;
  const auto rest_of = [&, offset = begin](std::size_t row) {
    return features_.row(row).subspan(offset, width);
  };
  const auto less = [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    const auto x = rest_of(a.second);
    const auto y = rest_of(b.second);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  };
  std::ranges::sort(order, less);
  dimension.place.resize(last - first);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || less(order[i - 1], order[i])) dimension.rows.push_back(order[i].second);
    dimension.place[order[i].second - first] = dimension.rows.size() - 1;
  }
}

void DistanceTables::fill(const FeatureColumns& others, std::size_t begin, std::size_t count,
                          Matrix& tables) const {
  tables.reshape(tables_, count);
  std::fill_n(tables.data(), tables_ * count, 0.0);
  std::size_t table = 0;
  for (const Dimension& dimension : dimensions_) {
    for (const std::size_t row : dimension.rows) {
      for (std::size_t f = dimension.range.first; f < dimension.range.second; ++f) {
        add_squared_differences(features_(row, f), others.column(f).subspan(begin, count),
                                dimension.weight, tables.row(table));
      }
      ++table;
    }
  }
}

void DistanceTables::find(const Matrix& tables, std::size_t row,
                          std::span<const double*> by_dimension) const {
  for (std::size_t j = 0; j < dimensions_.size(); ++j) {
    const Dimension& dimension = dimensions_[j];
    by_dimension[j] = tables.row(dimension.first_table + dimension.place[row]).data();
  }
}

}  // namespace steptune::bayes
