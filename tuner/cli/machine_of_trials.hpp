// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/machine/description.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Returns the description that a history stores for a session: the machine that runs the trials of
/// `study`, and the version of Steptune. If trials do not run on this machine, describes only the
/// machines that the baseline requests (`k_trials_on`).
[[nodiscard]] MachineDescription machine_of_trials(const StudySpec& study);

}  // namespace steptune
