// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trial_runner/measure/measurement.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Returns copies of the confirming runs `runs`, whose times and costs include the same phases.
///
/// Confirming runs are short. One of them may meet the end of an epoch, and the others do not. As
/// measured, only this run would pay for the phase, and the ratio of its pair would be wrong. Here
/// every run pays for each phase that a run or `baseline` showed. The phase comes as often as in
/// all runs with the same samples per step, or else as in all runs. It lasts as long as in the run
/// itself, or else as in runs of the same configuration, or else as in all runs.
///
/// Stalls are not shared, because they belong to a configuration. Runs keep their values if they
/// ended by themselves, or if their steps were not measured apart from phases.
///
/// Returns an empty list if there is no phase to share.
///
/// `baseline`: measurement of the baseline's search trial; null if there is none.
[[nodiscard]] std::vector<TrialRecord> with_shared_phases(
    const StudySpec& study, const std::vector<const TrialRecord*>& runs,
    const Measurement* baseline);

}  // namespace steptune
