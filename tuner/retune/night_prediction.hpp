// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "tuner/retune/slowdown_watch.hpp"

namespace steptune {

/// Statistic by which nights are compared.
enum class NightStatistic {
  incumbent,  ///< mean logarithm of the incumbent's times
  ratio,  ///< mean logarithm of the incumbent's times, minus the mean logarithm of the baseline's
          ///< times
};

/// Returns a score that grows with the slowdown of `night` against the nights of `past`. The score
/// is standard normal if nothing has changed. `past` is not empty. The standard deviation of a
/// difference counts as at least half of `options.least_slowdown`. Returns 0 if `past` or `night`
/// lacks the statistic.
///
/// Launches differ within a night, and nights differ from each other. Both variances are estimated
/// with a prior (1.5 % between launches, as in `LaunchVariation`; 0.5 % between nights; 3 degrees
/// of freedom each). The degrees of freedom of their sum follow B. L. Welch, "The generalization of
/// 'Student's' problem when several different population variances are involved", Biometrika 34,
/// 1947.
[[nodiscard]] double score_of(std::span<const NightTimes> past, const NightTimes& night,
                              NightStatistic statistic, const WatchOptions& options);

/// Mean of the later nights minus mean of the earlier nights.
struct NightShift {
  double mean = 0.0;
  double standard_error = 0.0;
  double freedom = 1.0;  ///< degrees of freedom of the error, by Welch
};
/// Returns the shift between two groups of nights; nullopt if either group lacks the statistic.
[[nodiscard]] std::optional<NightShift> shift_between(std::span<const NightTimes> before,
                                                      std::span<const NightTimes> after,
                                                      NightStatistic statistic,
                                                      const WatchOptions& options);

}  // namespace steptune
