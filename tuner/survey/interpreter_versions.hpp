// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/environment.hpp"
#include "common/machine/description.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Versions that the Python of a study's own command would run with on this machine: `python`, and
/// of what is installed for it `torch`, `cuda`, `cudnn`, `jax`, `tensorflow`, `numpy`. The
/// interpreter is asked, which imports nothing of them; it has some seconds. Empty where the
/// command starts no Python, trials run elsewhere, or PyTorch's hook tells what the program itself
/// has loaded.
///
/// `folder` takes the answer for a moment.
[[nodiscard]] MachineDescription interpreter_versions(const StudySpec& study, const Clock& clock,
                                                      const Environment& environment,
                                                      const std::filesystem::path& folder);

/// The interpreter that runs `argv`: its first word, or what the script that this is names in its
/// first line; empty where that is no Python.
[[nodiscard]] std::string python_of(const std::vector<std::string>& argv,
                                    const std::filesystem::path& folder, const std::string& path);

}  // namespace steptune
