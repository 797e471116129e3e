// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// Time per sample of a trial divided by that of another trial that took turns with it.
struct RatioInTurns {
  double ratio = 1.0;
  double relative_error = 0.0;  ///< standard error
  double degrees_of_freedom = 0.0;
};

/// Number of turns of a search trial. The first quarter is warm-up, so six turns are left to
/// compare with the baseline's. With six turns, the confidence interval by Student's t is less than
/// a third wider than with very many.
inline constexpr std::size_t k_turns_to_compare = 8;
/// For trials in turns, one part in this many counts as warm-up. A cut chosen from the data would
/// differ between trials that are compared.
inline constexpr std::size_t k_warmup_divisor_in_turns = 4;

/// Compares two trials of one round turn by turn. The n-th turns of both trials follow each other
/// closely, so a neighbour's load slows both. Returns nullopt if fewer than three turns of both are
/// left after the warm-up, or if one of the trials made no progress in them.
///
/// `trial` and `other` have one interval for each turn: from a fixed time to the end of this turn,
/// without pauses.
///
/// The ratio of means and its error by linearization: W. G. Cochran, Sampling Techniques, 3rd
/// edition, Wiley 1977, section 2.11.
[[nodiscard]] std::optional<RatioInTurns> ratio_in_turns(std::span<const Interval> trial,
                                                         std::span<const Interval> other);

/// Converts a measurement to the machine's speed at the time when `baseline` was measured.
/// `to_baseline` is the trial's ratio to another run of the baseline. The new time per sample of
/// the steps is the baseline's time times the ratio. The time of phases is unchanged.
void set_time_by_ratio(const RatioInTurns& to_baseline, const Measurement& baseline,
                       Measurement& measurement);

}  // namespace steptune
