// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "trial_runner/measure/measurement.hpp"

namespace steptune {

/// Progress of a trial at the end of one of its turns. Seconds leave out pauses and reported
/// phases.
struct TurnEnd {
  double samples = 0.0;
  double seconds = 0.0;
};

/// Time per sample of a trial relative to another one that took turns with it.
struct RatioInTurns {
  double ratio = 1.0;
  double relative_error = 0.0;  ///< standard error
  double degrees_of_freedom = 0.0;
};

/// Turns of a search trial: enough for six beside the baseline after the warm-up, the first
/// quarter. The interval of Student's t is then less than a third wider than with any number of
/// turns.
inline constexpr std::size_t k_turns_to_compare = 8;

/// Compares two trials of one round by their turns, in order: the n-th turns of both come close
/// together, so a neighbour slows both. Returns nullopt if fewer than three turns of both are left
/// after the warm-up.
///
/// The ratio of means and its error by linearization: W. G. Cochran, Sampling Techniques, 3rd
/// edition, Wiley 1977, section 2.11.
[[nodiscard]] std::optional<RatioInTurns> ratio_in_turns(std::span<const TurnEnd> trial,
                                                         std::span<const TurnEnd> other);

/// Gives a measurement the time per step that the trial would have had when the baseline was
/// measured: the baseline's, times the ratio to another run of the baseline. The time of phases
/// stays as it is.
void set_time_by_ratio(const RatioInTurns& to_baseline, const Measurement& baseline,
                       Measurement& measurement);

}  // namespace steptune
