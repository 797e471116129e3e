// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "search/searchers/bayes/expected_improvement.hpp"

namespace steptune::bayes {

/// A point on the way of a trial where it may be stopped, or its end.
struct Stage {
  double price = 0.0;     ///< of getting there from the stage before
  double variance = 0.0;  ///< of the full value that is left once it has been reached
};

/// Expected improvement over `best` (smaller is better) per expected price of the trial whose full
/// value is believed to be `full`, if it goes through `stages` and is stopped wherever going on is
/// not worth that rate: the highest rate that the best rule of stopping attains, in logarithm.
/// Comparable between trials at any point of their way, the prices that are paid already apart.
/// At least one stage; variances fall, prices are positive.
[[nodiscard]] double log_stopping_rate(const Normal& full, double best,
                                       std::span<const Stage> stages);

}  // namespace steptune::bayes
