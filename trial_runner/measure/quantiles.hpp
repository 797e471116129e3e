// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Student's t that is exceeded with probability `tail`; `freedom` need not be whole, at least 1.
[[nodiscard]] double student_quantile(double freedom, double tail);
/// Half-width of a 95 % interval in standard errors.
[[nodiscard]] double student_quantile_95(double freedom);
/// Upper end of the 95 % interval of a Poisson mean of which `count` events were seen.
[[nodiscard]] double poisson_upper_95(double count);

}  // namespace steptune
