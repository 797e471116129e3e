// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/interaction_kernel.hpp"

#include <algorithm>

#include "search/searchers/bayes/distinct_rows.hpp"
#include "search/searchers/bayes/matern.hpp"

namespace steptune::bayes {
namespace {

// What a dimension makes of so many others stays in the second-level cache.
constexpr std::size_t k_others_at_once = 128;

}  // namespace

void InteractionKernel::between(const Matrix& features, std::size_t first, std::size_t last,
                                const FeatureColumns& others, const FeatureGroups& groups,
                                Matrix& result) const {
  const auto ranges = ranges_of(groups);
  const std::size_t rows = last - first;
  const std::size_t count = others.rows();
  std::vector<Distinct> distinct;
  std::vector<std::size_t> begin_of;
  std::size_t tables = 0;
  for (const auto& range : ranges) {
    begin_of.push_back(tables);
    distinct.push_back(distinct_rows(features, first, last, range));
    tables += distinct.back().rows.size();
  }
  // By dimension and different value there: covariances with some others.
  thread_local Matrix covariances;
  std::vector<const double*> by_dimension(ranges.size());
  result.reshape(rows, count);
  for (std::size_t begin = 0; begin < count; begin += k_others_at_once) {
    const std::size_t block = std::min(k_others_at_once, count - begin);
    covariances.reshape(tables, block);
    std::fill_n(covariances.data(), tables * block, 0.0);
    for (std::size_t j = 0, table = 0; j < ranges.size(); ++j) {
      const double weight = 1.0 / (lengthscales[j] * lengthscales[j]);
      for (const std::size_t row : distinct[j].rows) {
        for (std::size_t f = ranges[j].first; f < ranges[j].second; ++f) {
          add_squared_differences(features(row, f), others.column(f).subspan(begin, block), weight,
                                  covariances.row(table));
        }
        ++table;
      }
    }
    const std::span<double> all(covariances.data(), tables * block);
    matern52(all, all);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < ranges.size(); ++j)
        by_dimension[j] = covariances.row(begin_of[j] + distinct[j].place[i]).data();
      interaction_covariances(amplitude, by_dimension, result.row(i).subspan(begin, block));
    }
  }
}

}  // namespace steptune::bayes
