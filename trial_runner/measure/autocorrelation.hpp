// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace steptune {

/// Dependence between neighbouring values of a series.
struct Autocorrelation {
  double correlation = 0.0;  ///< correlation of neighbouring values, corrected for its bias
  /// Factor by which the variance of the values' sum exceeds that of independent values.
  double inflation = 1.0;
};

/// Estimates the autocorrelation of a first-order autoregressive process. `inflation` is (1 + rho)
/// / (1 - rho). rho is corrected by (1 + 4 rho) / n for its bias in short series (M. G. Kendall,
/// Biometrika 41, 1954), and is at most 0.9. `residuals` are deviations from a mean (sum 0).
[[nodiscard]] Autocorrelation autocorrelation_of(std::span<const double> residuals);

/// Like `autocorrelation_of`, but for single steps, which may depend on each other over many steps.
/// If the correlation is significant, `inflation` is computed with rho plus one standard error
/// (Bartlett 1946), at most 0.98. The reason: too small a rho does more harm than too large a rho.
[[nodiscard]] Autocorrelation cautious_autocorrelation_of(std::span<const double> residuals);

}  // namespace steptune
