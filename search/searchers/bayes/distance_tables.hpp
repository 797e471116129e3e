// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// Rows by the different values that they take in the features of one dimension.
struct Distinct {
  std::vector<std::size_t> rows;   ///< one of each
  std::vector<std::size_t> place;  ///< in `rows`, for each row
};

/// Of rows [first, last) of `features`; `range` is the first and one past the last feature of the
/// dimension.
[[nodiscard]] Distinct distinct_rows(const Matrix& features, std::size_t first, std::size_t last,
                                     std::pair<std::size_t, std::size_t> range);

}  // namespace steptune::bayes
