// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/machine/description.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What a history keeps of a session: the machine that trials of `study` run on, and which Steptune
/// tunes it. Of machines elsewhere only what the study's baseline asks for is known
/// (`k_trials_on`): what this machine is says nothing of them.
[[nodiscard]] MachineDescription machine_of_trials(const StudySpec& study);

}  // namespace steptune
