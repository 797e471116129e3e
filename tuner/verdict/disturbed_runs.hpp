// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/history/history.hpp"

namespace steptune {

/// Returns the share, in [0, 1], of the last launch's time in which other programs used much of the
/// machine.
[[nodiscard]] double disturbed_share(const TrialRecord& trial);

/// True if `disturbed_share` is a fifth or more. The trial's value then depends more on the other
/// programs than on the trial.
[[nodiscard]] bool is_much_disturbed(const TrialRecord& trial);

/// True if more than a third of `trials`, and more than one trial, are much disturbed. On such a
/// machine, disturbed trials are compared like undisturbed trials.
[[nodiscard]] bool disturbance_is_usual(const std::vector<const TrialRecord*>& trials);

/// Returns the trials that are not much disturbed, in order. Returns all of them if disturbance is
/// usual or none would be left.
[[nodiscard]] std::vector<const TrialRecord*> without_disturbed(
    std::vector<const TrialRecord*> trials);

/// True for a search trial or a sentinel that took turns with the other trials of a search round.
[[nodiscard]] bool is_of_search_round(const TrialRecord& trial);
/// True if one of `trials` was in a search round.
[[nodiscard]] bool was_in_search_round(const std::vector<TrialRecord>& trials);
/// Number of the latest search trials by which a machine counts as shared.
inline constexpr std::size_t k_latest_trials = 12;

/// True if other programs used much of the machine in more than a third of the latest search
/// trials. The baseline counts as a search trial. Always true once the study has a search round.
[[nodiscard]] bool machine_is_shared(const std::vector<TrialRecord>& trials);

}  // namespace steptune
