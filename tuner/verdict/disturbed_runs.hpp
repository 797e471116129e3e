// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/history/history.hpp"

namespace steptune {

/// Share of the time of the trial's last launch in which others used much of the machine, in
/// [0, 1].
[[nodiscard]] double disturbed_share(const TrialRecord& trial);

/// True where that is a fifth or more: its value says more about the others than about it.
[[nodiscard]] bool is_much_disturbed(const TrialRecord& trial);

/// Whether more than a third of `trials` are much disturbed (of up to three: more than one). Such a
/// machine is as it is: what runs there is compared as it was measured.
[[nodiscard]] bool disturbance_is_usual(const std::vector<const TrialRecord*>& trials);

/// Those that are not much disturbed, in order; all of them where disturbance is usual or none
/// would be left.
[[nodiscard]] std::vector<const TrialRecord*> without_disturbed(
    std::vector<const TrialRecord*> trials);

}  // namespace steptune
