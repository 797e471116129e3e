// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Upper end of the 95 % interval of a trial's gain over the baseline by the search's runs alone,
/// as a share (0.03: 3 %), by Fieller's theorem (E. C. Fieller, "Some problems in interval
/// estimation", JRSS B 16(2), 1954). `candidates` are compared with the baseline at once. Infinite
/// if the runs say nothing, and for objectives that are maximised.
[[nodiscard]] double most_gain_of_trial(const Standing& standing, const TrialRecord& trial,
                                        const TrialRecord& baseline, std::size_t objective,
                                        std::size_t candidates);

/// The largest gain over the baseline that any configuration may still have, as a share, if the
/// trials have decided that it is below `search.worth`. Nothing otherwise. Decided means:
///
/// - Each measured configuration's interval ends below it: by its fresh runs (`Confirmation`), else
///   by the search's trials, with multiple comparisons.
/// - The gain of each setting by itself ends below it (`SettingEffects`), so that none hides behind
///   another one's loss.
/// - The trials cover every parameter: each choice, and within a factor of two each number. If the
///   searcher's `expected_improvement` is at most a twentieth of the worth, they need not: by
///   Markov's inequality its best proposal then gains as much with a probability of 5 % at most.
///
/// Never decided with a companion, which has a rule of its own.
[[nodiscard]] std::optional<double> nothing_to_gain(
    const StudySpec& study, const Standing& standing, const Confirmation& confirmation,
    std::optional<double> expected_improvement = std::nullopt);

/// True if a confirmation may use time that is left of the budget to decide about the worth: time
/// is limited, costs nothing, and nobody waits for the result.
[[nodiscard]] bool may_use_left_time(const StudySpec& study);

}  // namespace steptune
