// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trial_runner/hooks/hook_log.hpp"
#include "tuner/loop/trial_result.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Checks the hook of a trial that has ended. `hook_log`: the hook's events in the output. If these
/// do not show that the hook worked, reads the file `events`. In any case, removes that file. Sets
/// `missing` if the hook did not work at all. Also sets `not_applied` and `given_up` if they apply.
/// Finds nothing if the study uses no hook.
[[nodiscard]] TrialFindings check_hook(const StudySpec& study, const Configuration& configuration,
                                       const HookLog& hook_log,
                                       const std::filesystem::path& events);

/// Returns why a hook reported nothing about a program started as `argv` in `folder`.
/// docs/internals/hooks-protocol.md, "No event at all", lists the cases. `log`: the hook's file of
/// events.
[[nodiscard]] std::string why_hook_is_silent(const HookLog& log,
                                             const std::vector<std::string>& argv,
                                             const std::filesystem::path& folder);

}  // namespace steptune
