// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/loop/running_trial.hpp"
#include "tuner/loop/standing.hpp"

namespace steptune {

/// Seconds of a measured trial's window that the precision took which `wanted`, the study's, asks
/// for. The baseline's window is longer than that: none of the others is looked at for as long
/// (`look_for_long`).
[[nodiscard]] double needed_window_s(const MeasureSpec& wanted, const TrialRecord& trial);

/// What a trial of the search would have taken in this one's place: the baseline without its longer
/// look, any other all that it took.
[[nodiscard]] TrialPrice price_without_long_look(const MeasureSpec& wanted,
                                                 const TrialRecord& trial);

/// How long a trial of `configuration` is expected to take from its start until it has been
/// measured as `targets` wants it, with some to spare, in seconds: for runners that cannot be told
/// to end one. Start-up, steps of warm-up and steps of the window are those that most of the former
/// trials needed; a step takes what it takes in the faster ones, by its samples. Infinite before
/// anything has been measured.
[[nodiscard]] double enough_s(const StudySpec& study, const Standing& standing,
                              const Configuration& configuration, const TrialTargets& targets);

}  // namespace steptune
