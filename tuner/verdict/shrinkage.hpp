// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace steptune {

struct MeasuredValue {
  double value = 0.0;
  double error = 0.0;  ///< standard error, 0 or more
};

/// Expected true values of things that were measured with known errors. Each value is drawn to the
/// mean of all, by the share of its variance that its error explains: empirical Bayes (B. Efron and
/// C. Morris, "Data analysis using Stein's estimator and its generalizations", JASA 70, 1975). The
/// variance of the true values is estimated by moments (R. DerSimonian and N. Laird, Controlled
/// Clinical Trials 7(3), 1986). So the best of many noisy values loses most of its luck.
///
/// Returns one value for each, in order. Unchanged if any error is 0, since exact values need no
/// shrinking, and of a single value. Infinite errors are allowed.
[[nodiscard]] std::vector<double> shrunk(const std::vector<MeasuredValue>& measured);

}  // namespace steptune
