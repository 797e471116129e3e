// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/interval.hpp"

namespace steptune {

/// Returns the expected true values behind values that were measured with known errors, in order.
/// Each value is moved towards the mean of all values, by the share of its variance that its error
/// explains: empirical Bayes (B. Efron and C. Morris, "Data analysis using Stein's estimator and
/// its generalizations", JASA 70, 1975). The variance of the true values is estimated by moments
/// (R. DerSimonian and N. Laird, Controlled Clinical Trials 7(3), 1986). This corrects the best of
/// many noisy values, which is partly best by luck.
///
/// Returns the values unchanged if there is only one, if any error is 0, or if all errors are
/// infinite. Single infinite errors are allowed.
[[nodiscard]] std::vector<double> shrunk(const std::vector<MeasuredValue>& measured);

}  // namespace steptune
