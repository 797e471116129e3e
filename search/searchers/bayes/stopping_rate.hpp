// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "search/searchers/bayes/expected_improvement.hpp"

namespace steptune::bayes {

/// A point of a trial at which it may be stopped, or its end.
struct Stage {
  double price = 0.0;     ///< price from the previous stage to this one
  double variance = 0.0;  ///< variance of the full value that remains once this stage is reached
};

/// Returns the logarithm of a trial's expected improvement over `best` (smaller is better) per
/// expected price. The trial's full value is predicted as `full`. It passes through `stages` and is
/// stopped at any stage where continuing is not worth that rate; the result is the highest rate
/// that the best stopping rule achieves. It can be compared between trials at any stage, because
/// only prices still to be paid count. Needs at least one stage; variances fall and prices are
/// positive.
[[nodiscard]] double log_stopping_rate(const Normal& full, double best,
                                       std::span<const Stage> stages);

}  // namespace steptune::bayes
