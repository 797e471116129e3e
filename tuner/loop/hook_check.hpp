// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/hooks/hook_log.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What a trial's hook says against its measurement, for people.
struct HookFindings {
  std::optional<std::string> absent;        ///< why it did not do its work at all
  std::optional<std::string> not_in_force;  ///< what of the configuration is not in force
  std::optional<std::string> given_up;      ///< why it has ended the program
};

/// Looks at a trial that has ended: `told` on its output, and into `events` where it told nothing
/// there. The file is removed. Finds nothing where the study asks for no hook.
[[nodiscard]] HookFindings check_hook(const StudySpec& study, const Configuration& configuration,
                                      const HookLog& told, const std::filesystem::path& events);

/// Why a hook told nothing of a program started as `argv` in `folder`: the case of
/// docs/internals/hooks-protocol.md, "No event at all", that it is. `log`: of its file of events.
[[nodiscard]] std::string why_hook_is_silent(const HookLog& log,
                                             const std::vector<std::string>& argv,
                                             const std::filesystem::path& folder);

}  // namespace steptune
