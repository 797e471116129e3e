// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Returns the upper end of the 95 % interval of a trial's gain over the baseline, as a share
/// (0.03: 3 %). The interval uses the search's runs alone, by Fieller's theorem (E. C. Fieller,
/// "Some problems in interval estimation", JRSS B 16(2), 1954). `candidates`: number of trials that
/// are compared with the baseline at once. Infinite if the runs do not bound the gain, and for
/// maximized objectives.
[[nodiscard]] double most_gain_of_trial(const Standing& standing, const TrialRecord& trial,
                                        const TrialRecord& baseline, std::size_t objective,
                                        std::size_t candidates);

/// Returns the largest gain over the baseline, as a share, that any configuration may still have.
/// Returns nullopt unless the trials have shown that it is below `search.worth`. That needs three
/// conditions:
///
/// - The interval of each measured configuration's gain ends below the worth. The interval comes
///   from the fresh runs (`Confirmation`), or from the search's trials with multiple comparisons.
/// - The interval of each single setting's gain ends below the worth (`SettingEffects`). So no gain
///   is hidden by another setting's loss.
/// - The trials cover every parameter: each choice, and each number within a factor of two.
///
/// The last two are not needed if the searcher's `expected_improvement` is at most a twentieth of
/// the worth. By Markov's inequality, its best proposal then gains the worth with a probability of
/// at most 5 %.
///
/// Returns nullopt for a study with a configuration in use, or one that confirms each
/// configuration. These studies have their own rules.
[[nodiscard]] std::optional<double> nothing_to_gain(
    const StudySpec& study, const Standing& standing, const Confirmation& confirmation,
    std::optional<double> expected_improvement = std::nullopt);

/// True if a confirmation may use the rest of the time budget: the time costs nothing, and nobody
/// waits for the result.
[[nodiscard]] bool may_use_left_time(const StudySpec& study);

}  // namespace steptune
