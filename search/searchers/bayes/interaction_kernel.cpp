// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/interaction_kernel.hpp"

#include <algorithm>

#include "search/searchers/bayes/distance_tables.hpp"
#include "search/searchers/bayes/matern.hpp"

namespace steptune::bayes {

void InteractionKernel::between(const Matrix& features, std::size_t first, std::size_t last,
                                const FeatureColumns& others, const FeatureGroups& groups,
                                Matrix& result) const {
  std::vector<double> weights;
  for (const double lengthscale : lengthscales)
    weights.push_back(1.0 / (lengthscale * lengthscale));
  const DistanceTables tables(features, first, last, groups, weights);
  thread_local Matrix covariances;
  std::vector<const double*> by_dimension(tables.dimensions());
  const std::size_t count = others.rows();
  result.reshape(last - first, count);
  for (std::size_t begin = 0; begin < count; begin += DistanceTables::k_others_at_once) {
    const std::size_t block = std::min(DistanceTables::k_others_at_once, count - begin);
    tables.fill(others, begin, block, covariances);
    const std::span<double> all(covariances.data(), covariances.rows() * block);
    matern52(all, all);
    for (std::size_t i = 0; i < result.rows(); ++i) {
      tables.find(covariances, i, by_dimension);
      interaction_covariances(amplitude, by_dimension, result.row(i).subspan(begin, block));
    }
  }
}

}  // namespace steptune::bayes
