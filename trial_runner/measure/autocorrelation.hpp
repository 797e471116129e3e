// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace steptune {

/// What neighbouring values of a series have in common.
struct Autocorrelation {
  double correlation = 0.0;  ///< of neighbours, corrected for its bias
  /// By how much more the sum of the values varies than that of independent ones would.
  double inflation = 1.0;
};

/// As of a first-order autoregressive process: `inflation` is (1 + rho) / (1 - rho), with rho
/// corrected by (1 + 4 rho) / n for its bias in short series (M. G. Kendall, Biometrika 41, 1954),
/// 0.9 at most. `residuals` are deviations from a mean (sum 0).
[[nodiscard]] Autocorrelation autocorrelation_of(std::span<const double> residuals);

/// The same for single steps, which may hang together over many: where neighbours correlate beyond
/// doubt `inflation` is that of a rho one standard error (Bartlett 1946) larger, 0.98 at most. Too
/// small a rho costs more than too large a one.
[[nodiscard]] Autocorrelation cautious_autocorrelation_of(std::span<const double> residuals);

}  // namespace steptune
