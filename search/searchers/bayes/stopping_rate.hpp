// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "search/searchers/bayes/expected_improvement.hpp"

namespace steptune::bayes {

/// A moment of a trial at which it may be stopped, or its end.
struct Stage {
  double price = 0.0;  ///< price from the previous stage to this one
  /// Variance of the full trial's value that remains once this stage is reached.
  double variance = 0.0;
};

/// Returns the logarithm of a trial's expected improvement over `best` (smaller is better) per
/// expected price. `full` is the predicted value of the full trial. The trial passes through
/// `stages`, and may be stopped at each if continuing is not worth its price. Returns the rate of
/// the best stopping rule. Rates can be compared between trials at any stage, because only prices
/// still to be paid count. Needs at least one stage; variances must fall and prices be positive.
[[nodiscard]] double log_stopping_rate(const Normal& full, double best,
                                       std::span<const Stage> stages);

}  // namespace steptune::bayes
