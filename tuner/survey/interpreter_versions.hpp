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

/// Returns the versions that the Python of a study's own command would use on this machine:
/// `python`, and of installed libraries `torch`, `cuda`, `cudnn`, `jax`, `tensorflow`, `numpy`.
/// Asks the interpreter, which imports none of them and must answer within some seconds. Empty if
/// the command starts no Python, trials run elsewhere, or PyTorch's hook reports the libraries that
/// the program loads.
///
/// Writes the answer to a file in `folder` and removes it.
[[nodiscard]] MachineDescription interpreter_versions(const StudySpec& study, const Clock& clock,
                                                      const Environment& environment,
                                                      const std::filesystem::path& folder);

/// Returns the interpreter that runs `argv`: its first word or, if that is a script, the one named
/// in the script's first line. Empty if it is no Python.
[[nodiscard]] std::string python_of(const std::vector<std::string>& argv,
                                    const std::filesystem::path& folder, const std::string& path);

}  // namespace steptune
