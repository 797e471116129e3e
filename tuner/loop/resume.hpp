// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/ended_trials.hpp"
#include "tuner/loop/pending_trials.hpp"
#include "tuner/loop/study_run.hpp"
#include "tuner/loop/trial_launcher.hpp"

namespace steptune {

/// Restores the state of a study from its history, before anything is launched.
///
/// Finished trials are given to searcher and scheduler. Running trials are taken over if the runner
/// still has them; lost trials are queued to run again. A confirmation that was cut off continues,
/// and the search before it stays ended. `former`: the study's status after the last run of the
/// tuner; nullopt for a new study. If that run was killed (status `running`), its failed trials
/// count for `too_many_failures`, as if it had not been killed.
[[nodiscard]] Result<void> resume_study(StudyRun& run, std::optional<StudyStatus> former,
                                        PendingTrials& pending, EndedTrials& ended,
                                        const TrialLauncher& launcher);

}  // namespace steptune
