// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "tuner/retune/slowdown_watch.hpp"

namespace steptune {

/// What of a night is looked at.
enum class NightStatistic {
  incumbent,  ///< mean logarithm of the incumbent's times
  ratio,      ///< the same less the baseline's
};

/// How unusual `night` is after the nights of `past`, which is not empty: standard normal where
/// nothing has changed, large where it is slower. 0 where the statistic is missing in either.
///
/// Launches within a night and nights among each other differ: both variances are estimated with a
/// prior (1.5 % among launches, as `LaunchVariation`; 0.5 % among nights, 3 degrees of freedom
/// each), and the degrees of freedom of their sum are those of B. L. Welch, "The generalization of
/// 'Student's' problem when several different population variances are involved", Biometrika 34,
/// 1947.
[[nodiscard]] double score_of(std::span<const NightTimes> past, const NightTimes& night,
                              NightStatistic statistic, const WatchOptions& options);

/// By how much the mean of `after` is above that of `before`; nothing where the statistic is
/// missing in either.
struct NightShift {
  double mean = 0.0;
  double standard_error = 0.0;
  double freedom = 1.0;  ///< degrees of freedom of the error, as Welch has them
};
[[nodiscard]] std::optional<NightShift> shift_between(std::span<const NightTimes> before,
                                                      std::span<const NightTimes> after,
                                                      NightStatistic statistic,
                                                      const WatchOptions& options);

}  // namespace steptune
